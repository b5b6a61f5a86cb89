"""Similar submissions: pairs for a person to look at, and no part of any mark."""
