"""Goal: keep the grader waiting before a single question was asked.

At most: 0
Status: timeout
"""

while True:
    pass
