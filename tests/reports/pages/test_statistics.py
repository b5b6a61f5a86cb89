"""The figures of a class: computed a second time by another library, and known beforehand."""

from __future__ import annotations

import csv
import itertools
import math
import random
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from autograder.grading import store
from autograder.reports.pages.group import class_page
from autograder.reports.pages.statistics import Gathered, items_of, mistakes_of, sourced, together
from autograder.results import SubmissionResult, Usage
from tests.reports.exports.made import component, criterion, fault, rejected, result
from tests.reports.pages.read import Element, parsed, students

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


def page_of(results: Sequence[SubmissionResult]) -> Element:
    files = [f"{number}.html" for number in range(len(results))]
    return parsed(class_page(Gathered(results), files, "A class", NOW))


def pattern(*rows: str, **more: object) -> list[SubmissionResult]:
    """Return a class of one component from rows of cells: a digit is a part of 4 points."""
    return [
        result(
            {
                "norm": component(
                    [
                        criterion(
                            f"c{place}",
                            0 if cell == "-" else int(cell),
                            4,
                            passed=None if cell == "-" else cell == "4",
                            outcome={"-": "not_run", "4": "passed"}.get(cell, "failed"),
                            passed_cases=0,
                        )
                        for place, cell in enumerate(row)
                    ],
                    **more,
                )
            },
            submission=f"s{number:03d}",
        )
        for number, row in enumerate(rows)
    ]


def apart(results: Sequence[SubmissionResult]) -> dict[str, tuple[int, float, float | None]]:
    """Compute n, difficulty and discrimination another way: by dictionaries, and by scipy."""
    shares: dict[str, list[float]] = defaultdict(list)
    others: dict[str, list[float]] = defaultdict(list)
    for found in results:
        if found.standing != "graded":
            continue
        criteria = [c for part in found.components.values() for c in part.criteria]
        for one in criteria:
            if one.passed is not None:
                shares[one.id].append(one.score / one.max_score)
                others[one.id].append(math.fsum(c.score for c in criteria if c is not one))
    answer: dict[str, tuple[int, float, float | None]] = {}
    for name, mine in shares.items():
        correlation: float | None = None
        if len(mine) > 2 and len(set(mine)) > 1 and np.ptp(others[name]) > 1e-9:
            if set(mine) <= {0.0, 1.0}:
                flags = [share == 1.0 for share in mine]
                correlation = float(stats.pointbiserialr(flags, others[name]).statistic)
            else:
                correlation = float(stats.pearsonr(mine, others[name]).statistic)
        answer[name] = (len(mine), math.fsum(mine) / len(mine), correlation)
    return answer


def rows_of(page: Element) -> dict[str, list[str]]:
    """Return the cells of the table of all criteria by id."""
    captions = {"".join(c.text for c in t.all("caption")): t for t in page.all("table")}
    table = captions["All criteria"]
    found = {}
    for row in table.all("tbody")[0].all("tr"):
        name = row.all("th")[0].all("span")[0].text.removesuffix(", hidden")
        cells = row.all("td")
        found[name] = [cell.attributes.get("data-value") or cell.text for cell in cells]
    return found


def test_the_item_analysis_of_300_agrees_with_scipy(three_hundred) -> None:
    results, _ = three_hundred
    expected = apart(results)
    rows = rows_of(page_of(results))
    assert set(rows) == set(expected)
    assert sum(correlation is not None for _, _, correlation in expected.values()) > 20
    for name, (n, difficulty, correlation) in expected.items():
        _, _, shown_n, unrun, shown_difficulty, shown_correlation, _ = rows[name]
        assert int(shown_n) == n
        assert float(shown_difficulty) == pytest.approx(difficulty, abs=1e-6)
        graded = sum(found.standing == "graded" for found in results)
        assert int(unrun or 0) == graded - n
        if correlation is None:
            assert shown_correlation == "–", name
        else:
            assert float(shown_correlation) == pytest.approx(correlation, abs=1e-6), name


@pytest.mark.parametrize("seed", range(5))
def test_the_item_analysis_agrees_with_scipy_for_parts_and_what_never_ran(seed: int) -> None:
    draw = random.Random(seed)
    rows = ["".join(draw.choice("00444132-") for _ in range(6)) for _ in range(40)]
    results = [*pattern(*rows), rejected(), fault()]
    expected = apart(results)
    gathered = Gathered(results)
    for column, item in zip(gathered.criteria, items_of(gathered), strict=True):
        n, difficulty, correlation = expected[column.id]
        assert (item.n, item.unrun) == (n, 40 - n)
        assert item.difficulty == pytest.approx(difficulty)
        assert item.discrimination == pytest.approx(correlation)


def test_a_criterion_is_compared_with_the_others_and_not_with_itself() -> None:
    # Two criteria that say the opposite: with itself in the total, each would agree with it.
    found = items_of(Gathered(pattern(*["40", "04"] * 20)))
    assert [item.discrimination for item in found] == [pytest.approx(-1), pytest.approx(-1)]


def test_what_tells_nothing_has_no_correlation_and_few_are_marked() -> None:
    found = items_of(Gathered(pattern("44", "40", "44")))
    assert found[0].discrimination is None
    assert found[1].discrimination is None
    two = items_of(Gathered(pattern("404", "040")))
    assert [item.discrimination for item in two] == [None] * 3
    page = page_of(pattern("40", "04", "44"))
    assert all(row[2] == "3" for row in rows_of(page).values())
    assert len([e for e in page.section("criteria").all("span", "bad") if e.text == "!"]) >= 2
    assert "fewer than 30 are weak" in page.section("marks").text
    many = page_of(pattern(*["40", "04", "44"] * 10))
    assert "weak" not in many.text
    assert not [e for e in many.all("span", "bad") if e.text == "!"]


def test_what_nobody_and_everybody_passes_is_listed() -> None:
    section = page_of(pattern("40430", "40240", "4-0-4")).section("criteria")
    lists = {}
    parts = [part for part in section.inside if isinstance(part, Element)]
    for head, after in itertools.pairwise(parts):
        if head.tag == "h3":
            lists[head.text] = [item.all("span")[0].text for item in after.all("li")]
    assert lists["Nobody passes"] == ["c1"]
    assert lists["Everybody passes"] == ["c0"]


def test_what_always_falls_together_is_grouped_and_what_is_constant_is_not() -> None:
    found = together(Gathered(pattern("4404404", "0400404", "44-44-4", "1411104")))
    assert [[one.id for one in group.criteria] for group in found] == [["c0", "c3"]]
    assert (found[0].lost, found[0].n) == (2, 4)
    # It never ran for the same ones, and fell with it wherever it did.
    assert [
        [one.id for one in g.criteria]
        for g in together(Gathered(pattern("4-4-", "0404", "4444", "4040")))
    ] == [
        ["c0", "c2"],
        ["c1", "c3"],
    ]


def test_the_misconceptions_of_300_are_those_that_were_put_in(three_hundred) -> None:
    results, given = three_hundred
    found, pairs = mistakes_of(results)
    assert pairs == []
    assert {one.id: {results[row].submission for row in one.who} for one in found} == given
    whole = [
        sum(
            part.max_score - part.score
            for result in results
            if result.submission in given[one.id]
            for part in [result.components[one.component]]
        )
        for one in found
    ]
    assert whole == pytest.approx(sorted(whole, reverse=True))
    cards = page_of(results).section("misconceptions").all("div", "card")
    assert len(cards) == len(given) > 20
    for card, one in zip(cards, found, strict=True):
        head = card.all("h3")[0].text
        assert head == f"{len(given[one.id])} of {one.n}: {one.id}"
        assert {link.text for link in card.all("a")} == given[one.id]
        assert one.words in card.text
        assert f"Read: {one.source}." in card.text
        attempted = [r for r in results if r.components[one.component].status == "graded"]
        assert one.n == len(attempted)


def test_two_mistakes_of_one_submission_have_their_own_words_and_costs() -> None:
    def handed_in(words: str, *names: str, either: bool = False) -> SubmissionResult:
        lost = [criterion("a", 0, 3, causes=[words]), criterion("b", 0, 5)]
        part = component(lost, causes=[words], misconceptions=list(names), either=either)
        return result({"norm": part})

    alone = handed_in("you forgot it (page 2 (b))", "norm.forgot")
    both = handed_in(
        "both of these: you forgot it (page 2 (b)); and you doubled it (page 3)",
        *("norm.forgot", "n.d"),
    )
    either = handed_in(
        "one of these: you forgot it (page 2 (b)) or: you halved it (page 4)",
        *("norm.forgot", "norm.halved"),
        either=True,
    )
    for results in ([alone, both, either], [either, both, alone]):
        found = {one.id: one for one in mistakes_of(results)[0]}
        assert [(f.words, f.source) for f in found.values()] == [
            ("you forgot it", "page 2 (b)"),
            ("you doubled it", "page 3"),
            ("you halved it", "page 4"),
        ]
        assert [(len(f.who), len(f.perhaps)) for f in found.values()] == [(2, 1), (1, 0), (0, 1)]
        # All that the component lost, whoever else may be the reason.
        assert [f.mean_lost for f in found.values()] == [8.0, 8.0, None]
    assert sourced("no place is named") == ("no place is named", "")
    assert sourced(both.components["norm"].causes[0]) == (both.components["norm"].causes[0], "")


def test_mistakes_are_in_the_order_of_what_components_with_them_lost_and_that_is_said() -> None:
    def handed_in(name: str, words: str, *lost: float) -> SubmissionResult:
        # What the mistake explains, and what hidden checks took.
        criteria = [criterion("a", 0, lost[0], causes=[words]), criterion("b", 0, lost[1], True)]
        part = component(criteria, causes=[words], misconceptions=[f"norm.{words}"])
        return result({"norm": part}, submission=name)

    results = [
        handed_in("s01", "frequent", 2, 0.5),
        handed_in("s02", "frequent", 2, 0.5),
        handed_in("s03", "frequent", 2, 0.5),
        handed_in("s04", "dear", 1, 6),
        handed_in("s05", "dear", 1, 6),
    ]
    cards = page_of(results).section("misconceptions").all("div", "card")
    assert [card.all("h3")[0].text for card in cards] == [
        "2 of 5: norm.dear",
        "3 of 5: norm.frequent",
    ]
    said = [card.all("p", "small")[0].text for card in cards]
    assert said == [
        "Components with it lost 14 points in all, 7 on average.",
        "Components with it lost 7.5 points in all, 2.5 on average.",
    ]
    intro = page_of(results).section("misconceptions").all("p")[0].text
    assert "in the order of all the points that components with them lost" in intro


def test_counts_means_and_distributions_are_those_of_the_class() -> None:
    draw = random.Random(3)
    graded = pattern(*["".join(draw.choice("04") for _ in range(7)) for _ in range(50)])
    nothing = result({"norm": component([criterion("c0", 0, 28)], status="missing")})
    page = page_of([*graded, rejected(), fault(), nothing])
    tiles = [tile.text for tile in page.section("marks").all("li")]
    assert tiles[:4] == [
        "50 graded have a mark",
        "1 empty handed in no file of it",
        "1 rejected could not be taken in",
        "1 error the grader failed on them",
    ]
    scores = [found.score or 0.0 for found in graded]
    assert f"{np.mean(scores):.1f} of 28 mean" in tiles
    assert f"{np.std(scores, ddof=1):.1f} standard deviation" in tiles
    bars = page.section("marks").all("svg", "bars")[0].all("text")
    counts = [int(bar.text) for bar in bars[::2]]
    edges = [28 * n / 10 for n in range(10)] + [28, math.inf]
    assert counts == list(np.histogram(scores, edges)[0])
    cells = [cell.text for cell in page.section("components").all("td")]
    assert cells[:5] == ["50", "28", f"{np.mean(scores):.1f}", f"{np.median(scores):.1f}", "0"]


def test_the_table_and_the_data_of_the_page_agree(tmp_path: Path, three_hundred) -> None:
    results = [*three_hundred[0][:50], rejected().model_copy(update={"assignment": "basics"})]
    components = list(results[0].components)
    path = store.write_table(tmp_path, results, components)
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row, student in zip(rows, students(page_of(results)), strict=True):
        name, _, standing, score, points, cells, _ = student
        assert row["submission"] == name
        assert row["status"] == ("graded" if standing == "empty" else standing)
        assert float(row["score"]) == pytest.approx(score, abs=0.005)
        for component_name, value in zip(components, points, strict=True):
            assert float(row[component_name]) == pytest.approx(value or 0.0, abs=0.005)
        criteria = sum(len(part.criteria) for part in results[0].components.values())
        assert len(cells) in (0, criteria)


def test_what_a_teacher_looks_after_is_found() -> None:
    def handed_in(name: str, *statuses: str, cpu: float = 1.0) -> SubmissionResult:
        parts = {
            f"part{place}": component(
                [criterion("a", 0, 1, passed=None, outcome="not_run")],
                status=status,
                usage=Usage(cpu_s=cpu * (place + 1), call_s=cpu / 2),
            )
            for place, status in enumerate(statuses)
        }
        return result(parts, submission=name)

    results = [
        handed_in("a", "graded", "timeout", "missing", cpu=9.0),
        handed_in("b", "graded", "not_attempted", "missing"),
        handed_in("c", "forbidden", "graded", "not_attempted"),
        handed_in("d", "missing", "missing", "missing", cpu=0.0),
        handed_in("e", "crashed", "import_error", "graded", cpu=2.0),
        rejected(),
        fault(),
    ]
    page = page_of(results)
    section = page.section("to-look-after")
    parts = {part.all("h3")[0].text: part for part in section.all("div") if part.all("h3")}
    stopped = parts["Stopped at the same component"]
    assert [item.text for item in stopped.all("li") if item.all("ul")] == ["part1 b", "part2 a c"]
    slow = page.section("computing-time").rows("Computed longest")
    assert [row[0] for row in slow[:2]] == ["a", "e"]
    assert slow[0] == ["a", "54.00", "part2", "27.00", "4.50"]
    assert "s02.zip is a damaged archive" in section.text
    assert "SECRETfault" in section.text
    heads = [head.text for head in section.all("h3")]
    assert heads == [
        *("The grader failed", "Rejected", "No file of the assignment"),
        *("Took too long", "Died", "Called what is not allowed", "Cannot be imported"),
        *("Ran, and earned nothing", "Stopped at the same component"),
    ]


def test_cells_say_what_became_of_each_criterion() -> None:
    (row,) = pattern("4031-")
    died = criterion("t", 0, 4, passed=False, outcome="timeout")
    part = row.components["norm"]
    row.components["norm"] = part.model_copy(update={"criteria": [*part.criteria, died]})
    assert students(page_of([row]))[0].cells == "A072-t"


def test_a_class_of_nobody_graded_and_of_one_has_a_page() -> None:
    for results in ([fault()], [rejected()], [result()], [result({})]):
        assert page_of(results).section("marks").text
