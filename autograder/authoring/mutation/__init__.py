"""The small changes to a program that make mutants of it."""
