OK_FORMAT = False

from otter.test_files import test_case

name = "q2"
points = 1


@test_case(points=1, hidden=False)
def test_goal(years_to):
    assert years_to(2.25) == 2


@test_case(points=None, hidden=True)
def test_words(years_to, env):
    assert years_to(env["goal"]) == 2
