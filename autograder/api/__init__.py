"""What a test can say, what is asked of a component, and what comes back.

Ships whole with every release. The executor answers questions in the student's own `pytest` and in
a child of the sandbox; tests ask through `component` and `expect`. Door: `component.py`.
"""
