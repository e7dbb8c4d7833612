"""The page Cast: two side by side, who trusts whom, and who is where."""
