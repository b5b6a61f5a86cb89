"""Public tests of inventory."""

import unittest

from inventory import Inventory, normalise


class NormaliseTest(unittest.TestCase):
    """Names in their usual form."""

    def test_normalise(self):
        cases = {"Tea": "tea", " Green  TEA ": "green tea", "": "", "\tice\ntea": "ice tea"}
        for name, expected in cases.items():
            with self.subTest(name=name):
                self.assertEqual(normalise(name), expected)


class InventoryTest(unittest.TestCase):
    """A small stock."""

    def setUp(self):
        self.stock = Inventory()
        self.stock.add("Tea", 3, 2.5)
        self.stock.add("cup", 1, 4.2)

    def test_pieces(self):
        """pieces add up"""
        self.assertEqual(self.stock.pieces("tea"), 3)
        self.stock.add(" TEA", 4, 2.5)
        self.assertEqual(self.stock.pieces("tea"), 7)
        self.assertNotEqual(self.stock.pieces("cup"), 7)

    def test_unknown(self):
        """an unknown article has no pieces and no price"""
        self.assertIsNone(self.stock.price("pot"))
        self.assertIsNotNone(self.stock.price("cup"))
        self.assertFalse(self.stock.pieces("pot"))
        self.assertTrue(self.stock.pieces("cup"))

    def test_no_pieces(self):
        """only whole pieces are added"""
        with self.assertRaises(ValueError) as caught:
            self.stock.add("Pot", 0, 1.0)
        self.assertEqual(str(caught.exception), "no pieces of pot")
        self.assertEqual(caught.exception.args[0], "no pieces of pot")
        self.assertRaises(ValueError, self.stock.add, "pot", -1, 1.0)
        self.assertRaisesRegex(ValueError, "no pieces", self.stock.add, "pot", -1, 1.0)

    def test_value(self):
        self.assertAlmostEqual(self.stock.value(), 11.7)
        self.assertAlmostEqual(self.stock.value(), 11.69, delta=0.1)
        self.assertNotAlmostEqual(self.stock.value(), 11.6, places=2)

    def test_names(self):
        names = self.stock.names()
        self.assertListEqual(names, ["cup", "tea"])
        self.assertCountEqual(names, ["tea", "cup"])
        self.assertIn("tea", names)
        self.assertNotIn("Tea", names)
        self.assertIsInstance(names, list)
        self.assertNotIsInstance(names, str)
