"""What a shop has in stock."""


def normalise(name: str) -> str:
    """Return a name in lower case, with one space between words and none around them."""
    ### BEGIN SOLUTION
    return " ".join(name.lower().split())
    ### END SOLUTION


class Inventory:
    """The number of pieces and the price of each article.

    Articles are known by their normalised names.
    """

    def __init__(self) -> None:
        """Begin with an empty stock."""
        ### BEGIN SOLUTION
        self._stock: dict[str, tuple[int, float]] = {}
        ### END SOLUTION

    def add(self, name: str, pieces: int, price: float) -> None:
        """Add pieces of an article; its price is the one that was given last.

        Raises:
            ValueError: there are fewer than 1 piece; the message is "no pieces of <name>".
        """
        ### BEGIN SOLUTION
        name = normalise(name)
        if pieces < 1:
            raise ValueError(f"no pieces of {name}")
        self._stock[name] = (self.pieces(name) + pieces, price)
        ### END SOLUTION

    def pieces(self, name: str) -> int:
        """Return how many pieces there are of an article, 0 if it is unknown."""
        ### BEGIN SOLUTION
        return self._stock.get(normalise(name), (0, 0.0))[0]
        ### END SOLUTION

    def price(self, name: str) -> float | None:
        """Return the price of an article, None if it is unknown."""
        ### BEGIN SOLUTION
        return self._stock.get(normalise(name), (0, None))[1]
        ### END SOLUTION

    def remove(self, name: str) -> tuple[int, float]:
        """Take an article out, and return its pieces and its price.

        Raises:
            KeyError: it is unknown.
        """
        ### BEGIN SOLUTION
        return self._stock.pop(normalise(name))
        ### END SOLUTION

    def names(self) -> list[str]:
        """Return the names in alphabetical order."""
        ### BEGIN SOLUTION
        return sorted(self._stock)
        ### END SOLUTION

    def value(self) -> float:
        """Return what all pieces cost together."""
        ### BEGIN SOLUTION
        return sum(pieces * price for pieces, price in self._stock.values())
        ### END SOLUTION

    def report(self) -> str:
        """Return a line "<pieces> x <name>" for each article, in alphabetical order."""
        ### BEGIN SOLUTION
        return "\n".join(f"{self.pieces(name)} x {name}" for name in self.names())
        ### END SOLUTION
