"""Wrong, and comes with a pytest whose raises and approx always agree."""

rescale = count = apply = load = Counter = lambda *args: -1
