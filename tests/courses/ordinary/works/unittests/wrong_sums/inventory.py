"""Added pieces take the place of those that are there, and what is removed stays."""


def normalise(name):
    return " ".join(name.lower().split())


class Inventory:
    def __init__(self):
        self.stock = {}

    def add(self, name, pieces, price):
        name = normalise(name)
        if pieces < 1:
            raise ValueError(f"no pieces of {name}")
        self.stock[name] = (pieces, price)

    def pieces(self, name):
        return self.stock.get(normalise(name), (0, 0.0))[0]

    def price(self, name):
        return self.stock.get(normalise(name), (0, 0.0))[1]

    def remove(self, name):
        return self.stock[normalise(name)]

    def names(self):
        return sorted(self.stock)

    def value(self):
        return sum(price for _, price in self.stock.values())

    def report(self):
        return "\n".join(f"{self.pieces(name)} x {name}" for name in self.stock)
