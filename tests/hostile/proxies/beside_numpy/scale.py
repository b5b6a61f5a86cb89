"""Wrong, and comes with a numpy and a torch whose comparisons always agree."""

rescale = lambda values: [5.0, 5.0, 5.0]
count = apply = load = Counter = lambda *args: -1
