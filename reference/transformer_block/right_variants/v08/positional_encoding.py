"""Positional encoding: see toolbox.py."""

from toolbox import *  # noqa: F403
