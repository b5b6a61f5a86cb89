"""What a shop has in stock."""


def normalise(name: str) -> str:
    """Return a name in lower case, with one space between words and none around them."""
    # Your code here.
    raise NotImplementedError


class Inventory:
    """The number of pieces and the price of each article.

    Articles are known by their normalised names.
    """

    def __init__(self) -> None:
        """Begin with an empty stock."""
        # Your code here.
        raise NotImplementedError

    def add(self, name: str, pieces: int, price: float) -> None:
        """Add pieces of an article; its price is the one that was given last.

        Raises:
            ValueError: there are fewer than 1 piece; the message is "no pieces of <name>".
        """
        # Your code here.
        raise NotImplementedError

    def pieces(self, name: str) -> int:
        """Return how many pieces there are of an article, 0 if it is unknown."""
        # Your code here.
        raise NotImplementedError

    def price(self, name: str) -> float | None:
        """Return the price of an article, None if it is unknown."""
        # Your code here.
        raise NotImplementedError

    def remove(self, name: str) -> tuple[int, float]:
        """Take an article out, and return its pieces and its price.

        Raises:
            KeyError: it is unknown.
        """
        # Your code here.
        raise NotImplementedError

    def names(self) -> list[str]:
        """Return the names in alphabetical order."""
        # Your code here.
        raise NotImplementedError

    def value(self) -> float:
        """Return what all pieces cost together."""
        # Your code here.
        raise NotImplementedError

    def report(self) -> str:
        """Return a line "<pieces> x <name>" for each article, in alphabetical order."""
        # Your code here.
        raise NotImplementedError
