"""Writes twenty thousand files, and one of 200 MB, beside the one that is asked for."""


def load(path):
    for number in range(20_000):
        with open(f"{path}.{number}", "w") as file:
            file.write("x")
    with open(f"{path}.clean", "w") as file:
        for _ in range(200):
            file.write("x" * 10**6)
    return ["first"]


rescale = count = apply = Counter = lambda *args: -1
