"""Wrong, and comes with files that pytest and Python read by themselves."""

rescale = count = apply = load = Counter = lambda *args: -1
