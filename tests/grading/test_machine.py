"""A Python that was built without optimisation is noticed, and no other."""

import pytest

from autograder.grading.workers import slow_build

FAST = "-DNDEBUG -g -fwrapv -O3 -Wall"


@pytest.mark.parametrize(
    ("about", "said"),
    [
        ({"CONFIG_ARGS": "'--enable-optimizations'", "OPT": "-g -O0"}, "with -O0"),
        ({"CONFIG_ARGS": "", "OPT": FAST, "PY_CFLAGS": f"{FAST} -g -O1"}, "with -O1"),
        ({"CONFIG_ARGS": "'--with-pydebug'", "OPT": FAST}, "--with-pydebug"),
        ({"CONFIG_ARGS": "", "OPT": FAST, "Py_DEBUG": 1}, "--with-pydebug"),
        ({"CONFIG_ARGS": "'--prefix=/opt/x'", "OPT": FAST}, "without --enable-optimizations"),
        ({"CONFIG_ARGS": "'--prefix=/usr/local'", "OPT": FAST}, "without --enable-optimizations"),
    ],
)
def test_a_slow_build_is_a_sentence(about: dict[str, object], said: str) -> None:
    found = slow_build(about)
    assert found is not None
    assert said in found
    assert "\n" not in found


@pytest.mark.parametrize(
    "about",
    [
        {"CONFIG_ARGS": "'--enable-optimizations' '--with-lto'", "OPT": FAST, "PY_CFLAGS": FAST},
        # A distribution's, which says nothing of how it was profiled.
        {"CONFIG_ARGS": "'--enable-shared' '--prefix=/usr'", "OPT": "-O2", "PY_CFLAGS": "-O2"},
        {"CONFIG_ARGS": "'--prefix=/x'", "OPT": FAST, "PY_CFLAGS": f"{FAST} -fprofile-use"},
        # As on Windows.
        {"CONFIG_ARGS": None, "OPT": None, "PY_CFLAGS": None, "Py_DEBUG": 0},
        {},
    ],
)
def test_any_other_build_is_nothing_to_say(about: dict[str, object]) -> None:
    assert slow_build(about) is None
