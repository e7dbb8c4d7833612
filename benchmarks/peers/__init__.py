"""The systems that recall is measured beside, one small module each; they run in an environment of their own."""
