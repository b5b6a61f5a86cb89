"""The student's own `pytest`: the plugin that runs the public suite, and what it prints.

Ships whole with every release. The judge shares one thing with it: whose fault a failure is.
Door: `plugin.py`.
"""
