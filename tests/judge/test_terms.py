"""The terms of a child follow from its component, each limit from the one that is meant."""

from types import SimpleNamespace
from typing import Any

from autograder.judge.component import budget_of, largest_budget
from autograder.sandbox.profile import Budget
from autograder.settings import Limits

LIMITS: dict[str, Any] = {
    "call_cpu_s": 3.5,
    "call_wall_s": 7.5,
    "component_cpu_s": 11,
    "component_wall_s": 13.0,
    "memory_mb": 17,
    "output_kb": 1900,
    "deaths": 23,
}


def test_every_limit_has_its_place() -> None:
    right = Budget(call_cpu_s=3.5, call_wall_s=7.5, cpu_s=11, memory=17 << 20, file_size=1900 << 10)
    assert budget_of(Limits(**LIMITS)) == right


def test_its_own_source_can_always_be_written() -> None:
    assert budget_of(Limits(**{**LIMITS, "output_kb": 1})).file_size == 1_000_000


def test_the_largest_budget_holds_that_of_every_component() -> None:
    # Each is the largest in one of them alone.
    small = Budget(call_cpu_s=3.5, call_wall_s=7.5, cpu_s=11, memory=17 << 20, file_size=1900 << 10)
    for name in ("call_cpu_s", "call_wall_s", "component_cpu_s", "memory_mb", "output_kb"):
        larger = Limits(**{**LIMITS, name: 3 * LIMITS[name]})
        both: Any = SimpleNamespace(
            components=[SimpleNamespace(limits=of) for of in (Limits(**LIMITS), larger)]
        )
        assert largest_budget(both) == budget_of(larger) != small
        both.components.reverse()
        assert largest_budget(both) == budget_of(larger)
