"""Gradeformer: autograded assignments with hidden reference solutions.

Read as one path: an entry of a batch (`grading`) goes to a worker (`judge`), which asks a confined
process (`sandbox`) what the tests (`api`) want to know, compares with what it alone holds, and
leaves as a result (`results`).
"""

__version__ = "0.2.0"
