"""What several tests of listing use."""


def apply_all_test(target):
    """Check a function that should do what `apply_all` does."""
    assert target(abs, [-1, 2]) == [1, 2], "abs of each value"
    assert target(str, []) == [], "nothing to do"
    assert target(lambda value: value * 2, ["a", 1.5]) == ["aa", 3.0], "values of any type"
    print("All tests passed!")


def sorting_test(target, *lists):
    """Check a function that sorts in place."""
    for values in lists:
        expected = sorted(values)
        returned = target(values)
        assert returned is None
        assert values == expected


class Failing:
    """A function that raises some times before it answers."""

    def __init__(self, failures, answer="done"):
        self.failures = failures
        self.answer = answer
        self.calls = 0

    def __call__(self):
        self.calls += 1
        if self.calls <= self.failures:
            raise ConnectionError(f"attempt {self.calls}")
        return self.answer
