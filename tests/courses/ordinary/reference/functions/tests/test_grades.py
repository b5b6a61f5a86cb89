"""Hidden tests of grades."""

import grades as student


def test_letters_at_the_limits():
    """a mark exactly on a limit has the better letter"""
    for mark, name in [(90, "A"), (80, "B"), (70, "C"), (60, "D")]:
        assert student.letter(mark) == name
        assert student.letter(mark - 0.5) != name


def test_best_of_few():
    """fewer marks than asked for are all of them"""
    assert student.best([3, 5], n=4) == [5, 3]
    assert student.best([3, 5], 1) == [5]
    assert student.best([], 2) == []


def test_has_improved():
    """an equal mark is no improvement"""
    assert student.has_improved([1, 2, 3]) is True
    assert student.has_improved([1, 2, 2]) is False
    assert not student.has_improved([3, 1])


def test_passed_is_sorted():
    everybody = {name: 60 + number for number, name in enumerate("zyxab")}
    found = student.passed(everybody)
    assert found == sorted(everybody)
    assert len(found) == 5 and "z" in found
