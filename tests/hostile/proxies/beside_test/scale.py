"""Wrong, and comes with a module named as the test file, and with lines.txt of its own."""

rescale = count = apply = load = Counter = lambda *args: -1
