"""k-means with one mistake in it, or several; with none in force it is right."""

import warnings

import numpy as np

# Name: what to tell the student, and where the course treats it.
MISCONCEPTIONS = {
    "manhattan": (
        "you added up absolute differences; the nearest center is nearest by the Euclidean "
        "distance",
        "handout, section 2",
    ),
    "last_of_a_tie": (
        "of equally near centers you took the last; the one with the smallest number counts",
        "handout, section 2",
    ),
    "unchecked_sizes": (
        "numpy broadcasts points with one feature against any centers; different sizes are a "
        "ValueError",
        "handout, section 2",
    ),
    "empty_cluster": (
        "the mean of no points is NaN; a cluster without points keeps its center",
        "handout, section 2",
    ),
    "empty_at_zero": (
        "your cluster without points moves to the origin; it keeps its center",
        "handout, section 2",
    ),
    "whole_numbers": (
        "your new centers have the dtype of the old ones, so whole numbers cut off the means; "
        "the result is float64",
        "handout, section 2",
    ),
    "in_place": (
        "you wrote into the centers that you were given; the caller still needs them",
        "handout, section 2",
    ),
    "stale_labels": (
        "your labels are those from before the last update; they belong to the centers returned",
        "handout, section 2",
    ),
    "one_step_more": (
        "you took one step more than `steps` says",
        "handout, section 2",
    ),
    "not_squared": (
        "your inertia adds up the distances; it adds up their squares",
        "handout, section 2",
    ),
    "mean_inertia": (
        "your inertia is the mean over the points; it is the sum",
        "handout, section 2",
    ),
}
# The mistakes in force.
WRONG: frozenset[str] = frozenset()


def wrong(name: str) -> bool:
    """Tell whether this mistake is in force."""
    return name in WRONG


def assign(points, centers):
    """Return the number of the nearest center for every point."""
    if points.shape[1] != centers.shape[1] and not wrong("unchecked_sizes"):
        raise ValueError("points and centers have different sizes")
    differences = points[:, None] - centers[None]  # (N, K, D)
    apart = np.abs(differences) if wrong("manhattan") else differences**2  # (N, K, D)
    distances = apart.sum(-1)  # (N, K)
    if wrong("last_of_a_tie"):
        return distances.shape[1] - 1 - distances[:, ::-1].argmin(1)
    return distances.argmin(1)


def update(points, labels, centers):
    """Return new centers."""
    result = centers if wrong("in_place") else centers.copy()  # (K, D)
    if not wrong("whole_numbers") and not (wrong("in_place") and result.dtype == np.float64):
        result = result.astype(np.float64)
    for number in range(len(centers)):
        members = points[labels == number]  # (M, D)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if len(members) or wrong("empty_cluster"):
                result[number] = members.mean(axis=0)
            elif wrong("empty_at_zero"):
                result[number] = 0
    return result


def k_means(points, centers, steps):
    """Assign the points and update the centers, `steps` times."""
    centers = np.asarray(centers, dtype=np.float64)
    labels = assign(points, centers)
    for _ in range(steps + 1 if wrong("one_step_more") else steps):
        labels = assign(points, centers)
        centers = update(points, labels, centers)
    return centers, labels if wrong("stale_labels") else assign(points, centers)


def inertia(points, centers):
    """Return the sum of the squared distances of the points from their nearest center."""
    squares = ((points - centers[assign(points, centers)]) ** 2).sum(1)  # (N,)
    if wrong("not_squared"):
        squares = np.sqrt(squares)
    return float(squares.mean() if wrong("mean_inertia") else squares.sum())
