"""One submission, from its files to its marks."""
