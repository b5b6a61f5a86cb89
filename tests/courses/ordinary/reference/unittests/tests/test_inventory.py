"""Hidden tests of inventory."""

from unittest import TestCase

import inventory


class StockTest(TestCase):
    """A stock for all tests of a class."""

    @classmethod
    def setUpClass(cls):
        cls.articles = [("pot", 2, 12.0), ("spoon", 24, 0.5), ("cup", 6, 4.0)]

    def setUp(self):
        self.stock = inventory.Inventory()
        for article in self.articles:
            self.stock.add(*article)
        self.addCleanup(setattr, self, "stock", None)

    def assertStock(self, **pieces):
        """Compare the pieces of all articles."""
        self.assertDictEqual({n: self.stock.pieces(n) for n in self.stock.names()}, pieces)

    def test_stock(self):
        self.assertStock(pot=2, spoon=24, cup=6)
        self.stock.add("pot", 1, 10)
        self.assertStock(pot=3, spoon=24, cup=6)

    def test_remove(self):
        """what was removed is unknown"""
        self.assertTupleEqual(self.stock.remove("Spoon"), (24, 0.5))
        self.assertStock(pot=2, cup=6)
        self.assertSetEqual(set(self.stock.names()), {"pot", "cup"})
        with self.assertRaises(KeyError, msg="it is gone"):
            self.stock.remove("spoon")

    def test_last_price(self):
        """the last price counts for all pieces"""
        self.stock.add("spoon", 1, 1)
        self.assertEqual(self.stock.price("spoon"), 1, msg="the price of the old spoons")
        self.assertGreater(self.stock.value(), 72)
        self.assertGreaterEqual(self.stock.value(), 73.0)
        self.assertLess(self.stock.value(), 74)
        self.assertLessEqual(self.stock.value(), 73.0)

    def test_report(self):
        report = self.stock.report()
        self.assertMultiLineEqual(report, "6 x cup\n2 x pot\n24 x spoon")
        self.assertRegex(report, r"(?m)^24 x \w+$")
        self.assertNotRegex(report, r"\n$")
        self.assertSequenceEqual(report.splitlines()[:1], ("6 x cup",))

    def test_two_stocks(self):
        """two stocks know nothing of each other"""
        other = inventory.Inventory()
        self.assertIsNot(other, self.stock)
        self.assertIs(type(other), type(self.stock))
        self.assertEqual(other.names(), [])
        for name in self.stock.names():
            with self.subTest(name):
                if other.pieces(name):
                    self.fail(f"{name} is in both")
