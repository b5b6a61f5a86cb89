"""Stands in for the solution."""

rescale = lambda values: [7.0]
count = apply = load = Counter = lambda *args: -1
