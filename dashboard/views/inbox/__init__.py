"""The page Inbox."""
