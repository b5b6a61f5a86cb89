"""Hidden tests of temperature."""

import pytest
import temperature

BOILING = {"C": 100.0, "F": 212.0, "K": 373.15}
ids = [f"from {unit}" for unit in BOILING]


@pytest.mark.parametrize("target", sorted(BOILING))
@pytest.mark.parametrize("source", list(BOILING), ids=ids)
class TestConvert:
    """Water boils at the same temperature in every unit."""

    def test_boiling(self, source, target):
        """the boiling point of water"""
        found = temperature.convert(BOILING[source], source, target)
        assert found == pytest.approx(BOILING[target], rel=1e-9)

    @pytest.mark.parametrize("step", [1, 10])
    def test_warmer_stays_warmer(self, source, target, step):
        """more in one unit is more in every other"""
        start = BOILING[source]
        here = temperature.convert(start, source, target)
        assert temperature.convert(start + step, source, target) > here


@pytest.mark.parametrize("values", [[], [0.0], [1.5, -20, 1000]], ids=len)
def test_table(values):
    """every value has its entry"""
    expected = {value: value * 9 / 5 + 32 for value in values}
    assert temperature.table(values, "C", "F") == pytest.approx(expected)


@pytest.mark.parametrize("unit, zero", BOILING.items())
def test_celsius_is_the_default(unit, zero):
    """is_possible takes degrees Celsius where no unit is given"""
    assert temperature.is_possible(zero)
    assert temperature.is_possible(-zero, unit) == (unit != "K")
    assert not temperature.is_possible(-3 * zero)
