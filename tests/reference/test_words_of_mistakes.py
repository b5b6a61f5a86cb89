"""A mistake is told with names that everybody has: the assignment's, Python's and torch's.

Its words are those of one wrong variant, and who made the mistake may have written another one.
"""

from __future__ import annotations

import builtins
import copy
import math
import re
from collections.abc import Iterator

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from autograder.assignment import Assignment, load_assignment
from autograder.judge.misconceptions import Misconception, read
from tests.conftest import ROOT

NAMES = ("transformer_block", "language_model")
# Names as code writes them: with a dot, an underscore, digits, or a capital inside.
_CODE = re.compile(r"(?<![\w.])\.?[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_IS_CODE = re.compile(r"\.\w|\w\.\w|_|[a-z][A-Z]|[A-Z]{2}|[a-z]\d")
# Modules as everybody calls them, and what has methods.
MODULES = {"torch": torch, "nn": nn, "F": F, "copy": copy, "math": math}
OWNERS = (torch.Tensor, nn.Module, torch.optim.Optimizer, torch, nn, F, nn.init, torch.optim, math)
# No names of code: the characters of the walkthrough, and the names of things.
PROSE = {"", "CPU", "NaN", "PAD", "CLS", "SEP", "AdamW", "GELU"}


def quoted(words: str) -> Iterator[str]:
    """Yield what stands in the words as code does."""
    for found in _CODE.findall(words):
        if _IS_CODE.search(found) and found.strip("_") not in PROSE:
            yield found


def is_torchs(name: str) -> bool:
    """Return whether a name is one of Python's or torch's own, as everybody calls it."""
    first, *rest = name.lstrip(".").split(".")
    owner = MODULES.get(first) if rest and not name.startswith(".") else None
    if owner is not None:
        return hasattr(owner, rest[0])
    return not rest and any(hasattr(one, first) for one in (builtins, *OWNERS))


def is_public(name: str, handed_out: str) -> bool:
    """Return whether students were given a name, or the first part of it and a member after it."""

    def given(part: str) -> bool:
        return re.search(rf"(?<![\w.]){re.escape(part)}(?!\w)", handed_out) is not None

    owner, _, member = name.rpartition(".")
    return given(name) or (bool(owner) and is_public(owner, handed_out) and is_torchs(f".{member}"))


def handed_out(assignment: Assignment, component: str) -> str:
    """Return what says how things are called: the handout, and the component's stub."""
    return "\n".join(
        (assignment.public / name).read_text() for name in ("README.md", f"{component}.py")
    )


def known(assignment: Assignment) -> Iterator[Misconception]:
    for component in assignment.totals:
        yield from read(assignment, component).values()


@pytest.mark.parametrize("name", NAMES)
def test_no_mistake_is_told_with_a_name_that_only_its_variant_has(name: str) -> None:
    assignment = load_assignment(ROOT, name)
    told = [(one, code) for one in known(assignment) for code in quoted(one.explanation)]
    assert len(told) > 100
    assert [
        (one.id, code)
        for one, code in told
        if not is_torchs(code) and not is_public(code, handed_out(assignment, one.component))
    ] == []


@pytest.mark.parametrize("name", NAMES)
def test_what_torch_offers_is_no_claim_about_the_student(name: str) -> None:
    """Torch's functions stand in brackets, as examples, or in the advice after the semicolon."""
    assignment = load_assignment(ROOT, name)
    torchs = re.compile(r"(?<![\w.])(?:(?:torch|nn|F)\.\w+|\.\w+\(|log_softmax|cross_entropy\b\()")
    said = []
    for one in known(assignment):
        claim = re.sub(r"\((?:[^()]|\([^()]*\))*\)", "", one.explanation).partition(";")[0]
        if torchs.search(claim):
            said.append((one.id, claim))
    assert said == []


@pytest.mark.parametrize(
    ("code", "right"),
    [
        ("proj.weight", False),
        ("proj", False),
        ("decoder.weight", False),
        ("my_table", False),
        ("embedding.weight", True),
        ("embedding.weight.T", True),
        ("hidden.unsqueeze", True),
        ("next_token_probabilities", True),
        ("TiedLMHead", True),
        (".view", True),
        ("torch.softmax", True),
        ("torch.softmaxx", False),
        ("ValueError", True),
    ],
)
def test_names_of_the_handout_and_of_torch_are_everybodys(code: str, right: bool) -> None:
    text = handed_out(load_assignment(ROOT, "transformer_block"), "lm_head")
    assert (is_torchs(code) or is_public(code, text)) == right


# Rules for what stays of sorted probabilities, which answer the public checks of top_p alike.
SHARES = torch.tensor([0.5, 0.25, 0.15, 0.1], dtype=torch.float64)
RULES = {
    "the own probability": lambda top_p: top_p <= SHARES,
    "the sum before it": lambda top_p: SHARES.cumsum(0) - SHARES <= 1 - top_p,
    "the sum from the end": lambda top_p: SHARES.flip(0).cumsum(0).flip(0) >= top_p,
}


@pytest.mark.parametrize("rule", RULES)
def test_of_rules_that_answer_alike_only_what_they_share_is_said(rule: str) -> None:
    def kept(top_p: float) -> int:
        # The likeliest word stays in any case.
        return max(1, int(RULES[rule](top_p).sum()))

    right = {0.01: 1, 0.6: 2, 0.8: 3, 1.0: 4}
    assert {top_p: kept(top_p) for top_p in right} == {0.01: 4, 0.6: 1, 0.8: 1, 1.0: 1}
    told = read(load_assignment(ROOT, "language_model"), "generate")["top_p_as_threshold"]
    claim = told.explanation.partition(";")[0]
    # More than 1 of 4 with a small one; fewer than 2, 3 and 4 with the others.
    assert claim == "with a small top_p you kept more words than it takes, with a large one fewer"
