"""What a submission may use, and how that is held: the guard at run time, the reader beforehand.

Ships whole with every release, and knows nothing of questions and answers. Doors: `guard.py`, which
refuses what an assignment forbids while code runs; `reading.py`, which finds what a person should
look at before it runs.
"""
