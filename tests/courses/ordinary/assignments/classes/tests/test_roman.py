"""Public tests of roman."""

import pytest
import roman


class TestToRoman:
    """Numbers become numerals."""

    known = {1: "I", 3: "III", 8: "VIII", 60: "LX", 2011: "MMXI"}

    def setup_method(self):
        self.seen = []

    def convert(self, number):
        numeral = roman.to_roman(number)
        self.seen.append(numeral)
        return numeral

    def test_known(self):
        """numerals without subtraction"""
        for number, numeral in self.known.items():
            assert self.convert(number) == numeral
        assert self.seen == list(self.known.values())

    def test_subtraction(self):
        """four and nine are one less than five and ten"""
        assert self.seen == []
        assert self.convert(4) == "IV"
        assert self.convert(1999) == "MCMXCIX"

    @pytest.mark.parametrize("number", [0, -1, 4000])
    def test_out_of_range(self, number):
        """there is no numeral for these"""
        with pytest.raises(ValueError):
            self.convert(number)


class TestFromRoman:
    """Numerals become numbers."""

    def setup_method(self, method):
        self.from_roman = roman.from_roman
        self.name = method.__name__

    def teardown_method(self):
        del self.from_roman

    def test_known(self):
        assert self.name == "test_known"
        assert self.from_roman("LXXIV") == 74

    def test_no_sign(self):
        with pytest.raises(ValueError, match="Q"):
            self.from_roman("XQ")
