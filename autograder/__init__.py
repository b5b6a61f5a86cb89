"""Gradeformer: autograded PyTorch assignments with hidden reference solutions.

Read as one path: a submission enters at `submission`, meets the `judge` through the `sandbox`,
and leaves as `results`.
"""

__version__ = "0.1.0"
