"""Pipelines: what fetches students' repositories and tells them marks, and files that run it."""
