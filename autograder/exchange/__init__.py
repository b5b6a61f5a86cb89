"""What a test asks of a component, what comes back, and the executor that answers.

The same executor serves both backends: it runs in the student's own `pytest` process and in the
sandbox child. These modules need only torch, because they travel with every release.
"""
