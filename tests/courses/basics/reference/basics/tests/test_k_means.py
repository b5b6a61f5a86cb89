"""Hidden checks of k_means.py: comparison with the reference."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

SEEDS = st.integers(0, 10_000)
SIZES = st.tuples(st.integers(12, 20), st.integers(2, 5), st.integers(2, 4))


@pytest.mark.criterion(points=1, source="handout, section 2")
@given(seed=SEEDS, sizes=SIZES)
def test_nearest(component, reference, expect, make, seed, sizes):
    """assign finds the nearest of random centers, ties included"""
    count, clusters, features = sizes
    points = make.normal(count, features, seed=seed).numpy()
    centers = make.normal(clusters, features, seed=seed + 1).numpy()
    grid = make.integers(count, 2, seed=seed, below=4).numpy()
    places = make.integers(clusters, 2, seed=seed + 1, below=4).numpy()
    for asked in ((points, centers), (grid, places)):
        right = reference.call("assign", *asked).array
        expect.same(component.call("assign", *asked).array.tolist(), right.tolist(), "the labels")


@pytest.mark.criterion(points=1, source="handout, section 2")
@given(seed=SEEDS, sizes=SIZES)
def test_means(component, reference, expect, make, seed, sizes):
    """update is right for random points, in float64 also for whole numbers"""
    count, clusters, features = sizes
    labels = make.integers(count, seed=seed, below=clusters).numpy()
    drawn = (
        [make.normal(rows, features, seed=seed + rows).numpy() for rows in (count, clusters)],
        [make.integers(n, features, seed=seed + n, below=9).numpy() for n in (count, clusters)],
    )
    for points, centers in drawn:
        right = reference.call("update", points, labels, centers).array
        actual = component.call("update", points, labels, centers).array
        expect.same(str(actual.dtype), "float64", "the dtype of the centers")
        expect.same(actual, right, "the centers")


@pytest.mark.criterion(points=1.5, source="handout, section 2")
@given(seed=SEEDS, steps=st.integers(1, 4))
def test_steps(component, reference, expect, make, seed, steps):
    """after some steps centers and labels are right, and belong together; centers are float64"""
    points = make.normal(24, 2, seed=seed, deviation=3.0).numpy()
    start = np.concatenate([points[:4] * 0.1, [[50.0, 50.0]]])
    centers, labels = reference.call("k_means", points, start, steps).items(2)
    found, given_to = component.call("k_means", points, start, steps).items(2)
    expect.same(found, centers, "the centers")
    expect.same(np.asarray(given_to).tolist(), labels.tolist(), "the labels")
    whole = np.array([[0, 1], [2, 0]])
    kept = component.call("k_means", points, whole, 0).items(2)[0]
    expect.same(str(np.asarray(kept).dtype), "float64", "the dtype of the centers after no step")


@pytest.mark.criterion(points=1, source="handout, section 2")
@given(seed=SEEDS)
def test_total(component, reference, expect, make, seed):
    """inertia adds up the squares over all clusters, as a float"""
    points = make.normal(15, 3, seed=seed, deviation=2.0).numpy()
    centers = make.normal(4, 3, seed=seed + 1).numpy()
    right = reference.call("inertia", points, centers).number
    expect.same(component.call("inertia", points, centers).number, right, "the inertia")


@pytest.mark.criterion(points=1, form=True, source="handout, section 2")
def test_inputs_untouched(component, reference, expect):
    """update, k_means and inertia leave the points and the centers that they are given"""
    provided = component.provided("points")
    points, start = provided.make("clouds", 5, 8), provided.make("starts")
    labels = component.make("assign", points, start)
    expect.that(component.call("update", points, labels, start))
    expect.that(component.call("k_means", points, start, 3))
    expect.that(component.call("inertia", points, start))
    right = reference.provided("points")
    expect.same(start.call("copy").array, right.call("starts").array, "the centers afterwards")
    before = right.call("clouds", 5, 8).array
    expect.same(points.call("copy").array, before, "the points afterwards")
