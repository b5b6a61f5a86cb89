"""With a data class for each article and defaultdict."""

import re
from collections import defaultdict
from dataclasses import dataclass


def normalise(name):
    return re.sub(r"\s+", " ", name).strip().lower()


@dataclass
class Article:
    pieces: int = 0
    price: float | None = None


class Inventory:
    def __init__(self):
        self.articles = defaultdict(Article)

    def add(self, name, pieces, price):
        if pieces <= 0:
            raise ValueError("no pieces of " + normalise(name))
        article = self.articles[normalise(name)]
        article.pieces += pieces
        article.price = price

    def _find(self, name):
        return self.articles.get(normalise(name)) or Article()

    def pieces(self, name):
        return self._find(name).pieces

    def price(self, name):
        return self._find(name).price

    def remove(self, name):
        article = self.articles.pop(normalise(name))
        return article.pieces, article.price

    def names(self):
        names = list(self.articles)
        names.sort()
        return names

    def value(self):
        total = 0.0
        for article in self.articles.values():
            total += article.pieces * article.price
        return total

    def report(self):
        lines = []
        for name, article in sorted(self.articles.items()):
            lines.append(f"{article.pieces} x {name}")
        return "\n".join(lines)
