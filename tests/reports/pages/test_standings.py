"""How work stands, on the pages: what never ran, each status, who has no mark, large numbers."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from autograder.reports.exports import FORMATS
from autograder.reports.pages.group import class_page
from autograder.reports.pages.statistics import Gathered, items_of, mistakes_of, together
from autograder.reports.pages.student import costs, next_step, student_page
from autograder.reports.pages.writing import write_pages
from autograder.reports.shown import STATUS_WORDS, WHOLE, About, component_page, fault_page, shown
from autograder.results import CriterionResult, Graded, SubmissionResult, Usage
from tests.reports.exports.made import (
    HELD,
    NOTHING,
    OUTCOMES,
    component,
    criterion,
    fault,
    note,
    rejected,
    result,
    standing,
)
from tests.reports.pages.read import Element, parsed, students

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


def student(found: SubmissionResult, before: SubmissionResult | None = None) -> Element:
    then = None if before is None else shown(before, OUTCOMES, NOW)
    return parsed(student_page(shown(found, OUTCOMES, NOW), then, "Norms", NOW))


def classwide(*results: SubmissionResult) -> Element:
    files = [f"{number}.html" for number in range(len(results))]
    return parsed(class_page(Gathered(results), files, "Norms", NOW))


def unrun(name: str = "late", hidden: bool = False, most: float = 3) -> CriterionResult:
    found: CriterionResult = criterion(name, 0, most, hidden, passed=None)
    return found.model_copy(update={"outcome": "not_run"})


def lists(page: Element) -> list[str]:
    return [item.text for item in page.section("c1").all("li")]


@pytest.mark.parametrize("hidden", [False, True])
def test_what_never_ran_is_listed_as_lost_and_said_not_to_have_run(hidden: bool) -> None:
    part = component([criterion("first", 1, 1), unrun(hidden=hidden)], status="timeout")
    late, first = lists(student(result({"norm": part})))
    words = "lost, hidden check" if hidden else "not run (page 1)"
    assert late.startswith(f"✗ late holds {words}")
    assert late.endswith("0 / 3")
    assert first == "✓ first holds passed (page 1) 1 / 1"
    (cost,) = costs(shown(result({"norm": part}), OUTCOMES, NOW))
    assert (cost.points, cost.criteria, cost.words) == (3, 1, STATUS_WORDS["timeout"])


def test_what_never_ran_and_is_worth_nothing_is_not_said_to_be_fulfilled() -> None:
    part = component([criterion("bonus", 0, 0, passed=False), criterion("free", 0, 0)])
    assert [line[0] for line in lists(student(result({"norm": part})))] == ["✗", "✓"]


def test_in_the_class_what_never_ran_counts_in_no_mean_of_its_own() -> None:
    ran = result({"norm": component([criterion("a", 2, 4, passed=False)])}, submission="s01")
    not_run = result({"norm": component([unrun("a", most=4)], status="crashed")}, submission="s02")
    gathered = Gathered([ran, not_run])
    (item,) = items_of(gathered)
    assert (item.n, item.unrun, item.difficulty, item.lost) == (1, 1, 0.5, 1)
    assert gathered.cells == [{"norm": "5"}, {"norm": "-"}]
    # All that a page has of it, where it ran for nobody.
    page = classwide(not_run)
    assert page.section("criteria").all("tbody")[0].all("td")[4].text == "–"
    assert students(page)[0][5] == "-"
    section = page.section("criteria")
    assert [head.text for head in section.all("h3")][:2] == ["Nobody passes", "Everybody passes"]
    assert section.text.count("None.") == 3


@pytest.mark.parametrize("status", STATUS_WORDS)
def test_each_status_is_said_once_and_where_it_says_all_criteria_are_not_listed(
    status: str,
) -> None:
    words = STATUS_WORDS[status]
    noted = note(status)
    lost = [criterion("a", 0, 2), criterion("b", 0, 1)]
    found = standing(status, lost, component([criterion("c", 1, 1)]))
    page = student(found)
    section = page.section("c1")
    assert section.text.startswith(f"norm: 0 of 3 points {words} {noted}".replace("  ", " "))
    assert len(section.all("li")) == (0 if status in WHOLE else 2)
    (row,) = [r for r in page.section("points").all("tr") if r.all("th")[0].text == "norm"]
    assert [cell.text for cell in row.all("td")] == ["0 of 3", "", words]
    (cost,) = page.section("costs").all("li")
    said = words or "No known mistake was recognised."
    assert cost.text == f"norm , 3 points in 2 criteria: {said}"
    todo = page.section("next").text
    assert ("The first that is lost: a holds" in todo) == (status not in WHOLE)
    assert words in todo
    assert (noted in todo) == (status in WHOLE)
    # The feedback that stands in a workbook says the same.
    feedback = component_page(shown(found, OUTCOMES, NOW).components["norm"])
    assert feedback.count(noted) == 1
    assert words in feedback
    assert ("a holds" in feedback) == (status not in WHOLE)


def test_of_a_component_that_lost_nothing_its_status_is_no_cost() -> None:
    part = component([criterion("a", 1, 1)], status="crashed")
    page = student(result({"norm": part}))
    assert "Nothing is lost" in page.named("main").text
    assert not [e for e in page.all("section") if e.attributes["aria-labelledby"] == "costs"]


def test_the_class_names_who_ended_how_and_what_was_not_graded_to_its_end() -> None:
    names = [name for name in STATUS_WORDS if name not in ("graded", "held")]
    parts = {f"p{n}": component([criterion("a", 0, 1)], status=s) for n, s in enumerate(names)}
    page = classwide(result({"norm": component([criterion("b", 1, 1)]), **parts}))
    (row,) = students(page)
    assert row[6] == (
        "p0: no file; p1: not attempted; p2: cannot be imported; p3: took too long; p4: died; "
        "p5: forbidden"
    )
    cells = [row.all("td")[-1].text for row in page.section("components").all("tr")[1:]]
    assert cells == [
        *("", "1 no file", "1 not attempted", "1 cannot be imported"),
        *("1 took too long", "1 died", "1 forbidden"),
    ]
    heads = [head.text for head in page.section("to-look-after").all("h3")]
    assert heads == [
        *("Took too long", "Died", "Called what is not allowed", "Cannot be imported"),
        "Stopped at the same component",
    ]


def test_who_has_no_mark_has_a_page_that_says_why_and_no_number() -> None:
    page = student(fault())
    assert page.all("h1")[0].text == "No mark yet"
    assert page.all("p", "warn")[0].text == "It could not be graded; your instructor has been told."
    page = student(rejected())
    assert page.all("h1")[0].text == "Rejected: it could not be taken in"
    assert page.all("p", "warn")[0].text == "s02.zip is a damaged archive; hand it in again"
    # What it was before and is now, where only one of the two has criteria.
    for before, now, said in (
        (fault(), result(), "Then: no mark. Now: 4.75 of 8 points."),
        (result(), rejected(), "Then: 4.75 of 8 points. Now: 0 of 8 points (rejected)."),
        (rejected(), fault(), "Then: 0 of 8 points (rejected). Now: no mark."),
    ):
        changed = student(now, before).section("changed")
        assert said in changed.text
        assert not changed.all("li")


def test_in_the_class_who_has_no_mark_is_null_and_in_no_figure() -> None:
    nothing = component([criterion("a", 0, 8)], status="missing")
    empty = result({"norm": nothing}, submission="s04")
    page = classwide(result(), rejected(), fault(), empty)
    rows = [list(row[2:4]) for row in students(page)]
    assert rows == [["graded", 4.75], ["rejected", 0], ["error", None], ["empty", 0]]
    assert "4.8 of 8 mean" in page.section("marks").text
    assert "standard deviation" not in page.section("marks").text
    assert "s04" in page.section("to-look-after").text
    # Only the graded one counts for a component.
    (norm, _) = page.section("components").all("tr")[1:]
    assert [cell.text for cell in norm.all("td")][:5] == ["1", "8", "2.2", "2.2", "0"]


def test_numbers_of_four_digits_are_whole_wherever_they_are() -> None:
    first = component([criterion("a", 1234.5, 4000, passed=False), criterion("b", 0, 1000.5)])
    found = result({"norm": first, "head": component([criterion("c", 1000, 1000)])})
    page = student(found, result({"norm": component([criterion("a", 1000.25, 4000)])}))
    assert page.all("h1")[0].text == "2234.5 of 6000.5 points"
    assert [row.all("td")[0].text for row in page.section("points").all("tr")[1:]] == [
        "1234.5 of 5000.5",
        "1000 of 1000",
    ]
    assert "norm , 3766 points in 2 criteria" in page.section("costs").text
    assert "a holds (1000.25 → 1234.5)" in page.section("changed").text
    assert "The assignment's checks changed in between" in page.section("changed").text
    assert "c holds" not in page.section("changed").text
    assert "Then: 1000.25 of 4000 points. Now: 2234.5 of 6000.5 points." in page.text
    assert lists(page)[0].endswith("1234.5 / 4000")
    feedback = component_page(shown(found, OUTCOMES, NOW).components["norm"])
    assert "1234.5 of 5000.5 points" in feedback
    whole = classwide(found, found.model_copy(update={"submission": "s02"}))
    tiles = [tile.text for tile in whole.section("marks").all("li")]
    assert "2234.5 of 6000.5 mean" in tiles
    assert "2234.5 to 2234.5 middle half" in tiles
    cells = [cell.text for cell in whole.section("components").all("td")]
    assert cells[:5] == ["2", "5000.5", "1234.5", "1234.5", "0"]
    assert students(whole)[0][3:5] == (2234.5, [1234.5, 1000])


@pytest.mark.parametrize(
    "share, cell",
    [(0.0, "0"), (0.09, "0"), (0.1, "1"), (0.3, "3"), (0.7, "7"), (0.999, "9"), (1.0, "A")],
)
def test_a_cell_is_the_tenth_that_was_earned_and_all_only_where_all_was(
    share: float, cell: str
) -> None:
    one = criterion("a", 3 * share, 3, passed=share == 1)
    assert Gathered([result({"norm": component([one])})]).cells == [{"norm": cell}]


def test_a_share_that_is_all_but_for_floats_is_all() -> None:
    one = criterion("a", 0.1 + 0.2, 0.3, passed=True)
    two = criterion("b", 0.7 + 0.1, 0.8, passed=True)
    gathered = Gathered([result({"norm": component([one, two])})])
    assert gathered.cells == [{"norm": "AA"}]
    assert [item.everybody for item in items_of(gathered)] == [True, True]
    for criteria in ([one], [two]):
        found = result({"norm": component(criteria)})
        assert next_step(shown(found, OUTCOMES, NOW)) is None
    # In the picture of the class it is in the bin that it reaches.
    near = result({"norm": component([criterion("b", 0.7 + 0.1, 1)])})
    bars = classwide(near).section("marks").all("svg", "bars")[0].all("text")
    assert [bar.text for bar in bars[::2]] == [*"0000000010", "0"]


def test_next_is_a_public_criterion_before_a_hidden_one() -> None:
    part = component(
        [
            criterion("sealed", 0, 1, True),
            criterion("open", 0, 1, hints=["look", "again"], source="page 3"),
        ]
    )
    found = next_step(shown(result({"norm": part}), OUTCOMES, NOW))
    assert found is not None
    assert list(found.words) == ["The first that is lost: open holds", "hint: look"]
    assert found.source == "page 3"
    sealed = next_step(shown(result({"norm": component([unrun(hidden=True)])}), NOTHING, NOW))
    assert sealed is None


def test_steps_are_told_apart_by_component_and_place_and_small_ones_are_none() -> None:
    def attempt(*scores: float) -> SubmissionResult:
        return result({"norm": component([criterion("a", score, 2) for score in scores])})

    page = student(attempt(1, 2, 0.5), attempt(1 + 1e-12, 0, 1))
    steps = [(e.all("summary")[0].text, [i.text for i in e.all("li")]) for e in page.all("details")]
    assert steps[:2] == [
        ("Gained in 1 criterion", ["norm: a holds (0 → 2)"]),
        ("Lost in 1 criterion", ["norm: a holds (1 → 0.5)"]),
    ]


def test_the_ten_slowest_are_named_the_slowest_first() -> None:
    def handed_in(number: int, *seconds: float) -> SubmissionResult:
        parts = {
            f"p{n}": component([criterion("a", 1, 1)], usage=Usage(cpu_s=s, call_s=s / 4))
            for n, s in enumerate(seconds)
        }
        return result(parts, submission=f"s{number:02}")

    results = [handed_in(n, 1.0 + n, 0.5) for n in range(12)]
    rows = classwide(*results, result()).section("computing-time").rows("Computed longest")
    assert [row[0] for row in rows] == [f"s{n:02}" for n in range(11, 1, -1)]
    assert rows[0] == ["s11", "12.50", "p0", "12.00", "3.00"]


def test_what_is_named_on_the_page_of_a_class_is_cut() -> None:
    long = fault().model_copy(update={"submission": "s" * 500, "message": "m" * 5000})
    page = classwide(long)
    assert students(page)[0][0] == "s" * 119 + "…"
    item = page.section("to-look-after").all("li")[0]
    assert item.text == f"{'s' * 119}… {'m' * 299}…"


def test_what_is_forbidden_is_told_as_that_whatever_else_was_recognised() -> None:
    lost = criterion("a", 0, 2, causes=["you forgot eps"])
    part = component([lost], status="forbidden", causes=["you forgot eps"])
    (cost,) = costs(shown(result({"norm": part}), OUTCOMES, NOW))
    assert (cost.words, cost.known) == (STATUS_WORDS["forbidden"], False)


def test_next_says_the_first_note_alone_and_costs_add_up_to_four_decimals() -> None:
    part = component([criterion("a", 0.75, 1)], status="import_error", notes=["one", "two"])
    found = next_step(shown(result({"norm": part}), OUTCOMES, NOW))
    assert found is not None
    assert list(found.words) == [STATUS_WORDS["import_error"], "one"]
    lost = component([criterion("a", 0.6667, 1), criterion("b", 0.6667, 1)])
    (cost,) = costs(shown(result({"norm": lost}), OUTCOMES, NOW))
    assert cost.points == 0.6666


@pytest.mark.parametrize(
    ("before", "after", "gained", "lost"),
    [
        # Only the points of the suite changed.
        ((1, 1), (3, 3), [], []),
        ((1, 2), (1.5, 3), [], []),
        ((0, 1), (0, 3), [], []),
        ((1, 2), (3, 3), ["norm: a holds (1 of 2 → 3 of 3)"], []),
        # More points, and less of them.
        ((2, 2), (3, 6), [], ["norm: a holds (2 of 2 → 3 of 6)"]),
        ((1, 3), (0, 3), [], ["norm: a holds (1 → 0)"]),
    ],
)
def test_what_changed_is_the_share_and_other_points_are_said_to_be_the_suites(
    before: tuple[float, float], after: tuple[float, float], gained: list[str], lost: list[str]
) -> None:
    then, now = (
        result({"norm": component([criterion("a", *earned)])}) for earned in (before, after)
    )
    changed = student(now, then).section("changed")
    steps = {
        part.all("summary")[0].text.partition(" ")[0]: [item.text for item in part.all("li")]
        for part in changed.all("details")
    }
    assert steps == {name: found for name, found in (("Gained", gained), ("Lost", lost)) if found}
    other = before[1] != after[1]
    assert ("The assignment's checks changed in between, or their points." in changed.text) == other
    nothing = "No criterion earns more or less of its points than then."
    assert (nothing in changed.text) == (not steps)


def test_checks_that_only_one_attempt_has_are_neither_gained_nor_lost() -> None:
    before = result({"norm": component([criterion("old", 1, 1), criterion("both", 1, 1)])})
    new = [criterion("new", 0, 1), criterion("more", 2, 2), criterion("both", 0, 1)]
    changed = student(result({"norm": component(new)}), before).section("changed")
    assert [item.text for item in changed.all("li")] == ["norm: both holds (1 → 0)"]
    assert "The assignment's checks changed in between" in changed.text


def test_a_suite_that_changed_is_said_where_its_titles_and_points_are_the_same(
    tmp_path: Path,
) -> None:
    def graded(suite: str) -> SubmissionResult:
        about = Graded(submission_hash="1", suite_hash=suite, seed=1, versions={})
        return result({"norm": component([criterion("a", 1, 2)])}, graded=about)

    for earlier, said in (("old", True), ("new", False)):
        for anonymous in (False, True):
            out = tmp_path / f"{earlier}{anonymous}"
            before = {"s01": graded(earlier)}
            about = About("Norms", OUTCOMES, NOW)
            write_pages([graded("new")], out, about, before, anonymous=anonymous)
            (page,) = (out / "students").iterdir()
            text = parsed(page.read_text()).section("changed").text
            assert ("The assignment's checks changed in between" in text) == said
            assert "No criterion earns more or less of its points than then." in text


CAUSE = "you forgot eps"
MORE = "more in hidden checks, which name no mistake; they may have the same cause."
UNKNOWN = "No known mistake was recognised."
HIDDEN = "Hidden checks, which name no mistake"


@pytest.mark.parametrize(
    ("criteria", "said"),
    [
        # One cause, in public and in hidden checks.
        (
            [("a", CAUSE), ("b", CAUSE), ("c", None), ("d", None)],
            ["norm , 2 points in 2 criteria: likely cause: you forgot eps 4 " + MORE],
        ),
        # A public check that no name explains, and hidden ones.
        ([("a", ""), ("c", None)], [f"norm , 1 point in 1 criterion: {UNKNOWN} 2 {MORE}"]),
        # Hidden ones alone.
        ([("c", None)], [f"norm , 2 points in 1 criterion: {HIDDEN}."]),
        # A cause, a public check that it does not explain, and hidden ones.
        (
            [("a", CAUSE), ("b", ""), ("c", None)],
            [
                "norm , 1 point in 1 criterion: likely cause: you forgot eps",
                f"norm , 1 point in 1 criterion: {UNKNOWN}",
                f"norm , 2 points in 1 criterion: {HIDDEN}; they may have the same causes.",
            ],
        ),
        # Two causes.
        (
            [("a", CAUSE), ("b", "you doubled it"), ("c", None)],
            [
                "norm , 1 point in 1 criterion: likely cause: you forgot eps",
                "norm , 1 point in 1 criterion: likely cause: you doubled it",
                f"norm , 2 points in 1 criterion: {HIDDEN}; they may have the same causes.",
            ],
        ),
        # All that it cost is public.
        ([("a", CAUSE)], ["norm , 1 point in 1 criterion: likely cause: you forgot eps"]),
    ],
)
def test_hidden_checks_name_no_mistake_and_are_not_said_to_be_another(criteria, said) -> None:
    lost = [
        criterion(name, 0, 2, True)
        if cause is None
        else criterion(name, 0, 1, causes=[cause] if cause else [])
        for name, cause in criteria
    ]
    causes = list(dict.fromkeys(cause for _, cause in criteria if cause))
    found = result({"norm": component(lost, causes=["; and ".join(causes)] if causes else [])})
    page = student(found)
    assert [item.text for item in page.section("costs").all("li")] == said
    # Wherever the cause is told for the component, the rest is, too.
    beside = f"{2 * sum(cause is None for _, cause in criteria)} {MORE}"
    has = bool(causes) and any(cause is None for _, cause in criteria)
    about = About("Norms", OUTCOMES, NOW)
    places = [
        page.section("c1").text,
        component_page(shown(found, OUTCOMES, NOW).components["norm"]),
        FORMATS["markdown"].write([found], about),
        FORMATS["gradescope"].write([found], about),
    ]
    assert [beside in text for text in places] == [has] * 4
    # Where hidden outcomes are not shown, nothing is said of them.
    sealed = component_page(shown(found, NOTHING, NOW).components["norm"])
    assert "more in hidden" not in sealed


def test_one_cause_in_two_components_tells_the_hidden_checks_of_both() -> None:
    def part(*more: CriterionResult) -> object:
        return component([criterion("a", 0, 1, causes=[CAUSE]), *more], causes=[CAUSE])

    found = result(
        {
            "norm": part(criterion("b", 0, 2, True)),
            "head": part(criterion("c", 0, 3, True)),
            "tail": part(criterion("d", 0, 1), criterion("e", 0, 7, True)),
        }
    )
    assert [item.text for item in student(found).section("costs").all("li")] == [
        f"norm , 3 points in 3 criteria: likely cause: {CAUSE} 5 {MORE}",
        f"tail , 1 point in 1 criterion: {UNKNOWN}",
        f"tail , 7 points in 1 criterion: {HIDDEN}; they may have the same causes.",
    ]


def test_a_class_of_two_suites_is_out_of_the_larger_points() -> None:
    results = [
        result({"norm": component([criterion("a", 1, most)])}, submission=f"s{most}")
        for most in (5, 9, 7)
    ]
    assert Gathered(results).components == {"norm": 9}
    assert Gathered([*results, rejected()]).cells == [*({"norm": cell} for cell in "211"), {}]


def test_a_criterion_without_points_is_earned_by_who_passes_it() -> None:
    free = [criterion("a", 0, 0), criterion("b", 0, 0, passed=False)]
    assert Gathered([result({"norm": component(free)})]).cells == [{"norm": "A0"}]


def scored(*scores: float) -> list[SubmissionResult]:
    return [
        result({"norm": component([criterion("a", score, 10)])}, submission=f"s{n:03}")
        for n, score in enumerate(scores)
    ]


def test_the_middle_half_lies_between_the_quarters() -> None:
    tiles = [tile.text for tile in classwide(*scored(0, 1, 2, 3, 8)).section("marks").all("li")]
    assert "1.0 to 3.0 middle half" in tiles
    assert "2.0 of 10 median" in tiles


def test_criteria_that_tell_the_opposite_are_named_in_a_class_that_is_large_enough() -> None:
    def results(number: int, agree: bool) -> list[SubmissionResult]:
        found = []
        for n in range(number):
            # They agree a little more often than not, or never.
            other = n % 2 if agree and n % 5 < 3 else 1 - n % 2
            both = [criterion("a", n % 2, 1), criterion("b", other, 1, passed=other == 1)]
            found.append(result({"norm": component(both)}, submission=f"s{n}"))
        return found

    words = "Earned rather by those who lose the rest"
    assert words in classwide(*results(30, False)).section("criteria").text
    assert words not in classwide(*results(29, False)).section("criteria").text
    assert words not in classwide(*results(30, True)).section("criteria").text


def test_groups_that_fall_together_are_in_the_order_of_their_losses() -> None:
    rows = ["AABB", "ABBB", "ABBB"]
    earned = {"A": 1.0, "B": 0.0}
    # The first and the third are lost by fewer than the second and the fourth.
    results = [
        result(
            {
                "norm": component(
                    [
                        criterion(f"c{n}", earned[row[place]], 1)
                        for n, place in enumerate((0, 1, 0, 1))
                    ]
                ),
                "head": component([criterion("d", 1, 1)]),
            },
            submission=f"s{number}",
        )
        for number, row in enumerate([*rows, "BBBB"])
    ]
    found = [([one.id for one in g.criteria], g.lost) for g in together(Gathered(results))]
    ids = [one.id for one in Gathered(results).criteria]
    assert found == [([ids[1], ids[3]], 3), ([ids[0], ids[2]], 1)]


def test_the_words_of_a_mistake_are_those_that_are_surely_its_own() -> None:
    def handed_in(words: str, *names: str) -> SubmissionResult:
        lost = criterion("a", 0, 3, causes=[words])
        return result({"norm": component([lost], causes=[words], misconceptions=list(names))})

    muddled = handed_in("you forgot it and more besides", "norm.forgot", "norm.more")
    alone = handed_in("you forgot it (page 2)", "norm.forgot")
    for results in ([muddled, alone], [alone, muddled]):
        (first, _) = mistakes_of(results)[0]
        assert (first.id, first.words, first.source) == ("norm.forgot", "you forgot it", "page 2")


def test_who_did_not_begin_a_component_is_not_among_those_who_could_have_a_mistake() -> None:
    lost = criterion("a", 0, 3, causes=["you forgot it"])
    one = component([lost], causes=["you forgot it"], misconceptions=["norm.forgot"])
    others = [
        component([criterion("a", 0, 3)], status=status)
        for status in ("missing", "not_attempted", "crashed")
    ]
    (found,) = mistakes_of([result({"norm": part}) for part in (one, *others)])[0]
    assert (found.n, found.who) == (2, [0])


def test_a_cause_stands_once_above_its_criteria_and_empty_lines_nowhere() -> None:
    lost = [
        criterion("a", 0, 1, causes=["you forgot eps"], facts=[" ", "off by 1"]),
        criterion("b", 0, 1, causes=["you forgot eps"]),
    ]
    found = result({"norm": component(lost, causes=["you forgot eps"])})
    section = student(found).section("c1")
    assert section.text.count("you forgot eps") == 1
    assert section.text.count("as above") == 2
    assert [line.text for line in section.all("p", "lines")] == [
        "off by 1",
        *["Likely cause: as above"] * 2,
    ]
    page = component_page(shown(found, OUTCOMES, NOW).components["norm"])
    assert (page.count("you forgot eps"), page.count("as above")) == (1, 2)


def test_who_was_not_graded_has_no_remark_beside_the_reason() -> None:
    part = component([criterion("a", 0, 1)], status="missing")
    rows = students(classwide(result({"norm": part}), rejected(), fault()))
    assert [row[6] for row in rows] == ["", "", ""]


def test_where_to_read_stands_beside_what_is_lost_alone() -> None:
    both = [criterion("a", 1, 1, source="page 8"), criterion("b", 0, 1, source="page 9")]
    page = component_page(
        shown(result({"norm": component(both)}), OUTCOMES, NOW).components["norm"]
    )
    assert "page 9" in page
    assert "page 8" not in page


def test_where_there_is_no_mark_the_reason_is_text_of_a_length_that_is_read() -> None:
    page = fault_page("<b>\x1b" + "x" * 5000)
    assert "&lt;b&gt;" in page
    assert "\x1b" not in page
    assert 900 < page.count("x" * 10) * 10 <= 1000


def test_the_class_lists_what_is_held_with_its_places_and_how_to_accept_it() -> None:
    held = standing("held", [unrun("a")])
    noted = result(submission="s02", review=[HELD.model_copy(update={"component": "head"})])
    page = classwide(held, noted)
    trouble_ = page.section("to-look-after")
    heads = [head.text for head in trouble_.all("h3")]
    assert heads == ["Held for review", "Noted by the review, and graded"]
    assert "autograder accept RESULTS SUBMISSION COMPONENT" in trouble_.text
    rows = [row.text for row in trouble_.all("li") if row.all("pre")]
    places = "norm.py, line 3: it imports ctypes norm.py, line 9: it imports ctypes"
    assert rows == [f"norm s01 {places}", f"head s02 {HELD.words}"]
    listed = students(page)
    assert [row[6] for row in listed] == ["norm: held for review", ""]
    cells = [row.all("td")[-1].text for row in page.section("components").all("tr")[1:]]
    assert cells == ["1 held for review", ""]


def test_of_many_places_the_class_lists_twenty() -> None:
    held = standing("held", [unrun("a")])
    held.review = [HELD.model_copy(update={"line": line}) for line in range(1, 31)]
    (row,) = [r for r in classwide(held).section("to-look-after").all("li") if r.all("pre")]
    assert row.text.count("imports ctypes") == 20
    assert row.text.endswith("and 10 more")


def test_without_names_it_is_known_as_held_and_no_file_or_name_is_there(tmp_path: Path) -> None:
    held = standing("held", [unrun("a")])
    held.review = [
        HELD.model_copy(update={"file": "ada_lovelace.py", "what": "calls ada"}),
    ]
    held.components["norm"].notes = ["held for review: ada_lovelace.py, line 3: it calls ada"]
    write_pages([held], tmp_path / "pages", About("Norms", OUTCOMES, NOW), anonymous=True)
    files = [path.read_text() for path in (tmp_path / "pages").rglob("*.html")]
    assert len(files) == 2
    assert all("Held for review" in text and "ada" not in text for text in files)
    assert not [text for text in files if "line 0" in text]
