"""Collects nothing."""

collect_ignore_glob = ["*"]
