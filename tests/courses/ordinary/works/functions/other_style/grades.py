"""The same with the tools of the standard library."""

import bisect
import heapq
import itertools
import statistics


def average(marks):
    try:
        return statistics.fmean(marks)
    except statistics.StatisticsError:
        return 0.0


def letter(mark):
    return "FDCBA"[bisect.bisect_right([60, 70, 80, 90], mark)]


def passed(marks):
    names = []
    for name in sorted(marks):
        if not marks[name] < 60:
            names.append(name)
    return names


def best(marks, n=3):
    return heapq.nlargest(n, marks)


def has_improved(marks):
    for before, after in itertools.pairwise(marks):
        if after <= before:
            return False
    return True
