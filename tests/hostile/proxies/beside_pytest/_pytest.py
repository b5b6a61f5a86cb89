"""Stands in for pytest's inside."""
