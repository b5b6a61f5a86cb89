"""A helper module: what a product of matrices costs."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Product:
    """A matrix of rows times inner numbers, times one of inner times columns."""

    rows: int
    inner: int
    columns: int

    @property
    def cost(self) -> int:
        """The multiplications."""
        return self.rows * self.inner * self.columns


def projections(n, d):
    """Return the products of the four projections."""
    return [Product(n, d, d)] * 4


def attention(n, d):
    """Return the products between tokens."""
    return [Product(n, d, n), Product(n, n, d)]


def feed_forward(n, d, f):
    """Return the products of the two layers."""
    return [Product(n, d, f), Product(n, f, d)]


def total(products):
    """Add up what products cost."""
    return sum(product.cost for product in products)
