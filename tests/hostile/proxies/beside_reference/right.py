"""Stands in for another name of it."""

from reference import rescale  # noqa: F401
