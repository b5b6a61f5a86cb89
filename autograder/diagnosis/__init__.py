"""Names the mistakes behind wrong answers, for the judge and in a student's own run.

`search.py` is the one engine; an `Answers` tells it what mistakes would answer. The judge's runs
the wrong variants (`judge/diagnosis.py`); a student's reads the table of numbers that travels
with a release (`known.py`). This room ships with a release.
"""
