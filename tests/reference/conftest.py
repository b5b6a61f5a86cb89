"""The model answers, loaded apart: their plain names (`attention`, ...) stay out of other tests."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

REFERENCE = Path(__file__).parents[2] / "reference/transformer_block"


@pytest.fixture(scope="session")
def solution() -> SimpleNamespace:
    """Give every component's module under its file name, as in `solution.attention.causal_mask`."""
    names = sorted(path.stem for path in REFERENCE.glob("*.py"))
    hidden = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    sys.path.insert(0, str(REFERENCE))
    try:
        return SimpleNamespace(**{name: importlib.import_module(name) for name in names})
    finally:
        sys.path.remove(str(REFERENCE))
        for name in names:
            sys.modules.pop(name, None)
        sys.modules.update(hidden)


@pytest.fixture(scope="package", autouse=True)
def one_thread() -> Iterator[None]:
    """Compute on one thread: on tensors this small, waking a second one costs far more."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
