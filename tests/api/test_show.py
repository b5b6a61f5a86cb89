"""What a student's work is shown as is bounded, whatever came back."""

import json

import torch

from autograder.api.run import Show


def test_no_more_views_are_kept_than_twelve() -> None:
    show = Show()
    for number in range(13):
        show.table(str(number), [], [])
    assert [view["title"] for view in show.views] == [str(number) for number in range(12)]


def test_no_more_cells_are_shown_than_64_each_way() -> None:
    show = Show()
    for size in (64, 65):
        many = torch.arange(float(size))
        show.table("table", ["x"], [[*many]] * size)
        show.heatmap("heatmap", many.expand(size, size), range(size), range(size))
        show.bars("bars", range(size), many)
    assert show.views[:3] == show.views[3:]
    table, heatmap, bars = show.views[:3]
    assert [len(table["rows"]), *{len(row) for row in table["rows"]}] == [64, 64]
    assert [len(heatmap["values"]), *{len(row) for row in heatmap["values"]}] == [64, 64]
    assert (len(heatmap["rows"]), len(heatmap["columns"])) == (64, 64)
    assert (len(bars["values"]), len(bars["labels"])) == (64, 64)


def test_texts_are_cut_and_what_is_no_number_is_none() -> None:
    show = Show()
    long, odd = "x" * 9999, torch.tensor([[float("nan"), float("inf")], [1.0, -2.0]])
    show.table(long, [long], [[long, torch.zeros(999), odd[1, 1]]], long)
    show.heatmap("heatmap", odd, [long], None, long, long)
    show.heatmap("vector", odd[0])
    table, heatmap, vector = show.views
    assert (len(table["title"]), len(table["note"]), len(table["header"][0])) == (120, 300, 60)
    assert [len(cell) for cell in table["rows"][0]] == [300, 300, 2]
    assert heatmap["values"] == [[None, None], [1.0, -2.0]]
    assert (heatmap["low"], heatmap["high"]) == (-2.0, 1.0)
    assert [len(name) for name in heatmap["rows"]] == [20, 0]
    assert (len(heatmap["x"]), len(heatmap["y"]), heatmap["columns"]) == (60, 60, [])
    assert (vector["kind"], vector["note"]) == (
        "missing",
        "no matrix came back, but the shape (2,)",
    )
    # Written as JSON of any reader's.
    json.dumps(show.views, allow_nan=False)
