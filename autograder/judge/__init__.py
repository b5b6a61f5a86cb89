"""One submission, from its files to its marks.

A worker runs it in a process of its own, which holds the solutions and the hidden tests; student
code runs in the sandbox's children alone. Others may import what takes submissions in, `intake.py`
with its neighbours, which needs no torch. Door: `worker.py`, started as a program.
"""
