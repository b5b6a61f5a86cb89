"""Names are only stripped, the first price stays, and the report ends with an empty line."""


def normalise(name):
    return name.lower().strip()


class Inventory:
    def __init__(self):
        self.stock = {}
        self.prices = {}

    def add(self, name, pieces, price):
        if pieces < 1:
            raise ValueError(f"no pieces of {name}")
        self.stock[normalise(name)] = self.pieces(name) + pieces
        self.prices.setdefault(normalise(name), price)

    def pieces(self, name):
        return self.stock.get(normalise(name), 0)

    def price(self, name):
        return self.prices.get(normalise(name))

    def remove(self, name):
        return self.stock.pop(normalise(name)), self.prices.pop(normalise(name))

    def names(self):
        return sorted(self.stock)

    def value(self):
        return sum(self.stock[name] * self.prices[name] for name in self.stock)

    def report(self):
        return "".join(f"{self.pieces(name)} x {name}\n" for name in self.names())
