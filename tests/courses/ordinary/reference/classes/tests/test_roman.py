"""Hidden tests of roman."""

import pytest
import roman


class Numerals:
    """What all tests of numerals have in common; no test class by itself."""

    numerals: list[str] = []
    highest = 3999

    @pytest.fixture(autouse=True)
    def numbers(self):
        self.numbers = [roman.from_roman(numeral) for numeral in self.numerals]

    def test_in_range(self):
        """every number is between 1 and 3999"""
        assert self.numbers
        assert all(1 <= number <= self.highest for number in self.numbers)

    def test_there_and_back(self):
        """a number's numeral is the one it came from"""
        assert [roman.to_roman(number) for number in self.numbers] == self.numerals


class TestSmall(Numerals):
    """Numerals below ten."""

    numerals = ["I", "II", "IV", "VI", "IX"]
    highest = 9

    def test_sum(self):
        assert sum(self.numbers) == 22


class TestLarge(Numerals):
    """Numerals with every sign."""

    numerals = ["MMMCMXCIX", "CDXLIV", "DCCCLXXXVIII"]

    @classmethod
    def setup_class(cls):
        cls.sums = {("MM", "MCMXCIX"): "MMMCMXCIX", ("XL", "IX"): "XLIX"}

    def test_add(self):
        """sums of numerals are numerals"""
        for (first, second), expected in self.sums.items():
            assert roman.add(first, second) == expected

    def test_sum_too_large(self):
        with pytest.raises(ValueError):
            roman.add("MMM", "M")
