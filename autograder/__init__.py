"""Gradeformer: autograded assignments with hidden reference solutions.

Read as one path: an entry of a batch (`grading`) goes to a worker (`judge`), which asks a confined
process (`sandbox`) what the suites (`suite`) want to know, compares with what it alone holds
(`solutions`), and leaves as a result (`results`).
"""

__version__ = "0.1.0"
