"""Public checks of k_means.py. Source: handout, section 2."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

SEEDS = st.integers(0, 10_000)


@pytest.mark.criterion(points=1, source="handout, section 2")
def test_assign(component, expect):
    """of two centers that are equally near, the first counts"""
    points = np.array([[0.0, 0.0], [3.0, 0.0], [2.0, 0.0], [5.0, 1.0]])
    centers = np.array([[0.0, 0.0], [4.0, 0.0], [4.0, 0.0]])
    labels = component.call("assign", points, centers).array
    expect.that(np.issubdtype(labels.dtype, np.integer), "the labels are no whole numbers")
    expect.same(labels.tolist(), [0, 1, 0, 1], "the labels")


@pytest.mark.criterion(points=1, source="handout, section 2")
def test_update(component, expect):
    """centers move to the mean of their points; without points they stay"""
    points = np.array([[0.0, 0.0], [2.0, 4.0], [5.0, 5.0]])
    centers = np.array([[1.0, 1.0], [9.0, 8.0], [6.0, 6.0]])
    answer = component.call("update", points, np.array([0, 0, 2]), centers)
    expect.same(answer.array, np.array([[1.0, 2.0], [9.0, 8.0], [5.0, 5.0]]), "the centers")


@pytest.mark.criterion(points=1, source="handout, section 2")
def test_k_means(component, expect):
    """the worked example: two steps for four numbers"""
    points = np.array([[0.0], [1.0], [3.0], [8.0]])
    start = np.array([[0.0], [2.0]])
    for steps, centers, labels in (
        (0, [[0.0], [2.0]], [0, 0, 1, 1]),
        (1, [[0.5], [5.5]], [0, 0, 0, 1]),
        (2, [[4 / 3], [8.0]], [0, 0, 0, 1]),
    ):
        found, given_to = component.call("k_means", points, start, steps).items(2)
        expect.same(found, np.array(centers), f"the centers after {steps} steps")
        expect.same(np.asarray(given_to).tolist(), labels, f"the labels after {steps} steps")


@pytest.mark.criterion(points=1, source="handout, section 2")
@given(seed=SEEDS)
def test_inertia(component, expect, make, seed):
    """points at a distance of 3 from their only center have the inertia 9 each"""
    centers = make.normal(1, 2, seed=seed).numpy()
    steps = np.array([[3.0, 0.0], [0.0, -3.0], [-3.0, 0.0], [0.0, 3.0]])
    expect.same(component.call("inertia", centers + steps, centers).number, 36.0, "the inertia")


@pytest.mark.criterion(points=0.5, form=True, source="handout, section 2")
def test_errors(component, expect):
    """points and centers of different size are a ValueError"""
    points, centers = np.zeros((3, 1)), np.zeros((2, 2))
    expect.raises(component.call("assign", points, centers), "ValueError")
