"""How the cost of a call grows with its size, on machines that are noisy."""

from __future__ import annotations

import math
from collections.abc import Sequence

# Below this many seconds a call costs nothing that can be measured.
_LEAST_COST = 1e-4
# The power and the factor by which a noisy machine may mislead.
_SLACK = 0.4
_NOISE = 3.0


def too_steep(sizes: Sequence[float], costs: Sequence[float], exponent: float) -> float | None:
    """Return the power of the size that costs grow with, where it is clearly above `exponent`.

    Args:
        sizes: of the questions, the last at least four times the first.
        costs: seconds or operations, in the same order.
        exponent: the power that is allowed.
    """
    (before, cheaper), (size, cost) = sorted(zip(sizes, costs, strict=True))[-2:]
    # At the largest sizes, what every call costs alike counts least.
    slope = math.log(max(cost, _LEAST_COST) / max(cheaper, _LEAST_COST)) / math.log(size / before)
    allowed = _NOISE * (size / sizes[0]) ** exponent * max(costs[0], _LEAST_COST)
    return slope if slope > exponent + _SLACK and cost > allowed else None
