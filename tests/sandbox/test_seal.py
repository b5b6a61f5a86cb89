"""A sealed kernel ends the child that reaches it; all that honest work needs goes on as before."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import torch

from autograder.exchange.kernels import FORBIDDEN
from autograder.exchange.messages import Reply, Request
from autograder.exchange.operations import Call
from autograder.exchange.rules import Rules
from autograder.judge.terms import operations_named
from autograder.sandbox import seal
from autograder.sandbox.handle import ChildGone
from autograder.sandbox.host import Sandbox
from autograder.sandbox.terms import Budget, Terms
from autograder.sandbox.tiers import NotIsolated, open_sandbox
from tests.conftest import ROOT, skip

BUDGET = Budget(call_cpu_s=20.0, call_wall_s=60.0, cpu_s=60, memory=1 << 30, file_size=1 << 20)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not seal.can_seal(), reason="KERNELS CANNOT BE SEALED HERE"),
]

# Each reaches a kernel of torch with no guard before it.
CALLS = {
    "layer_norm": "torch.layer_norm(x, [8])",
    "rms_norm": "torch.rms_norm(x, [8])",
    "group_norm": "torch.group_norm(x, 2)",
    "instance_norm": "F.instance_norm(x[None])",
    "batch_norm": "F.batch_norm(x, None, None, training=True)",
    "scaled_dot_product_attention": "F.scaled_dot_product_attention(x, x, x)",
    "multi_head_attention": (
        "torch._native_multi_head_attention(x[None], x[None], x[None], 8, 2, "
        "torch.ones(24, 8), torch.ones(24), torch.ones(8, 8), torch.ones(8))"
    ),
    "transformer_encoder_layer": (
        "nn.TransformerEncoderLayer(8, 2, 8, batch_first=True).eval()(x[None])"
    ),
}
# What a student may want, and what comes of it without a sandbox.
HONEST = {
    "matmul": "x @ y",
    "matmul_bf16": "(x.bfloat16() @ y.bfloat16()).float()",
    "half": "F.linear(x.half(), y.T.half()).float()",
    "linear": "F.linear(x, y.T, y[0])",
    "gelu": "F.gelu(x)",
    "softmax": "x.softmax(-1)",
    "einsum": "torch.einsum('ij,jk->ik', x, y)",
    "convolution": "F.conv2d(x.reshape(1, 1, 6, 8), y.reshape(1, 1, 8, 8)[..., :3, :3])",
    "convolution_1d": "F.conv1d(x[None], y[:6, :6, None].expand(6, 6, 3))",
    "transposed": "F.conv_transpose1d(x[None], y[:6, :6, None])",
    "pooling": "F.max_pool1d(x[None], 2)",
    "lstm": "nn.LSTM(8, 8)(x[:, None])[0].shape.numel() * torch.ones(1)",
    "embedding_bag": "F.embedding_bag(torch.tensor([[1, 2]]), y)",
    "fft": "torch.fft.fft(x).real",
    "svd": "torch.linalg.svdvals(x)",
    "solve": "torch.linalg.solve(y + 20 * torch.eye(8), x.T)",
    "sort": "x.sort(-1).values.cumsum(-1)",
    "normalize": "F.normalize(x)",
    "statistics": "torch.stack([x.var(-1), x.std(-1), x.mean(-1), x.median(-1).values])",
    "loss": "F.cross_entropy(x, torch.arange(6))",
    "backward": "torch.autograd.functional.jacobian(lambda z: F.gelu(z @ y).softmax(-1), x)",
    "own_function": "Doubled.apply(x.requires_grad_()).detach()",
    "vmap": "torch.func.vmap(lambda row: row.softmax(-1) @ y)(x)",
    "gradient": "torch.func.grad(lambda z: (z @ y).square().sum())(x)",
    "jvp": "torch.func.jvp(lambda z: z.softmax(-1), (x,), (x,))[1]",
    "checkpointed": "checkpoint(lambda z: z @ y, x, use_reentrant=False)",
    "adam": "stepped(torch.optim.AdamW, x)",
    "scripted": "torch.jit.trace(lambda z: z.relu() @ y, x)(x)",
    "numpy": "torch.from_numpy(np.linalg.inv(y.double().numpy() + 20 * np.eye(8)))",
    "numpy_fft": "torch.from_numpy(np.fft.rfft(x.numpy()).real)",
    "numpy_random": "torch.from_numpy(np.random.default_rng(1).normal(size=3))",
    "libraries": "torch.tensor([len(imported())])",
    "big_list": "torch.tensor(sum(bytearray(grown(1 << 22))))",
}
SOURCE = """
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


def stepped(kind, x):
    weight = nn.Parameter(x.clone())
    optimizer = kind([weight], lr=0.1)
    weight.square().sum().backward()
    optimizer.step()
    return weight.detach()


def imported():
    import asyncio, bz2, csv, ctypes, curses, dbm, decimal, hashlib, lzma, multiprocessing, sqlite3
    import ssl, uuid, zlib, zoneinfo, xml.parsers.expat, numpy.random, numpy.polynomial, numpy.ma
    return [asyncio]


def grown(size):
    found = bytearray()
    while len(found) < size:
        found += b"1" * 65536
    return found


"""
INPUTS = "g = torch.Generator().manual_seed(0)\nx, y = torch.randn(6, 8, generator=g), "
INPUTS += "torch.randn(8, 8, generator=g)\n"


def component(expressions: dict[str, str]) -> bytes:
    """Write a component with a function for each expression."""
    body = INPUTS.strip().replace("\n", "\n    ")
    parts = [f"def {name}():\n    {body}\n    return {e}\n" for name, e in expressions.items()]
    return (SOURCE + "\n\n".join(parts)).encode()


@pytest.fixture(scope="module", params=["tier1", "tier2", "tier3"])
def sealed(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    try:
        found, description = open_sandbox(request.param, BUDGET, FORBIDDEN, [])
    except NotIsolated as reason:
        skip(request.param, reason)
    assert description.endswith("kernels sealed")
    yield found
    found.close()


def answers(
    sandbox: Sandbox, source: bytes, names: Sequence[str], rules: Rules | None = None
) -> dict[str, Reply]:
    terms = None if rules is None else Terms(BUDGET, rules)
    child = sandbox.fork("work", {"work.py": source}, terms)
    found = {name: child.perform(Request([Call(name)])) for name in names}
    child.close()
    return found


@pytest.mark.parametrize(
    "operation",
    [
        # Most kernels are sealed alike: a normalisation, and what has kernels of its own.
        name
        if name in ("layer_norm", "scaled_dot_product_attention", "multi_head_attention")
        else pytest.param(name, marks=pytest.mark.release)
        for name in FORBIDDEN
    ],
)
def test_every_kernel_ends_the_process_with_its_name(operation: str) -> None:
    script = f"""
import torch, torch.nn.functional as F
from torch import nn
from autograder.sandbox.seal import Seals
torch.set_grad_enabled(False)
x = torch.ones(6, 8)
seals = Seals()
seals.set([{operation!r}])
seals.set([])
{CALLS[operation]}
seals.set([{operation!r}])
{CALLS[operation]}
raise SystemExit(7)
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=False)
    assert seal.sealed_operation(done.returncode) == operation


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_honest_work_is_as_without_a_sandbox(sealed: Sandbox) -> None:
    found = answers(sealed, component(HONEST), list(HONEST))
    here: dict[str, object] = {"__name__": "work"}
    exec(component(HONEST), here)
    for name, reply in found.items():
        assert reply.error is None, (name, reply.error)
        tolerance = 2e-2 if name in ("matmul_bf16", "half") else 1e-5
        expected = here[name]()  # type: ignore[operator]
        torch.testing.assert_close(reply.value, expected, rtol=tolerance, atol=tolerance)


def test_a_child_without_rules_is_not_sealed(sealed: Sandbox) -> None:
    source = component({"f": "torch.layer_norm(x, [8])", "g": "executable()"})
    source += b"import mmap\ndef executable():\n    return len(mmap.mmap(-1, 4096, prot=7))\n"
    found = answers(sealed, source, ["f", "g"], Rules())
    assert [reply.error for reply in found.values()] == [None, None]


def test_machine_code_of_ones_own_calls_nothing_that_is_filtered(sealed: Sandbox) -> None:
    """A sealed child cannot even have some; in this one it must come to nothing."""
    path = ROOT / "tests" / "hostile" / "forging" / "old_system_calls.py"
    child = sealed.fork("work", {"work.py": path.read_bytes()}, Terms(BUDGET, Rules()))
    with pytest.raises(ChildGone, match="SIG"):
        child.perform(Request())


def test_a_child_is_sealed_against_what_its_own_rules_forbid(sealed: Sandbox) -> None:
    source = component({"f": "torch.layer_norm(x, [8])", "g": "torch.group_norm(x, 2)"})
    found = answers(sealed, source, ["f", "g"], Rules(("group_norm",)))
    assert found["f"].error is None
    assert [use.operation for use in found["g"].forbidden] == ["group_norm"]


def test_the_end_of_a_child_names_the_kernel(sealed: Sandbox) -> None:
    path = ROOT / "tests" / "hostile" / "rules" / "by_address.py"
    child = sealed.fork("work", {"work.py": path.read_bytes()})
    with pytest.raises(ChildGone) as gone:
        child.perform(Request([Call("layer_norm", args=(torch.ones(2, 8),))]))
    assert gone.value.operation == "layer_norm"


def descendants() -> set[int]:
    """Return the processes that this one started, and those that they did."""
    parents = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = entry.read_bytes().rpartition(b")")[2].split()
            parents[int(entry.parent.name)] = int(fields[1])
    found = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {os.getpid()}


HELPER = """
import torch.nn.functional as F


def normalised(x):
    return F.layer_norm(x, x.shape[-1:])
"""


def test_beside_a_stand_in_kernels_are_sealed_all_the_same(sealed: Sandbox) -> None:
    path = ROOT / "tests" / "hostile" / "rules" / "by_address.py"
    source = path.read_bytes() + b"\nfrom helper import normalised\n"
    files = {"work.py": source, "helper.py": HELPER.encode()}
    terms = Terms(BUDGET, Rules(FORBIDDEN), ours=("helper.py",), lent=("layer_norm",))
    x = torch.randn(2, 8, generator=torch.Generator().manual_seed(0))
    before = descendants()
    child = sealed.fork("work", files, terms)
    assert len(descendants() - before) == 2
    asked = Call("normalised", args=(x,), cotangent=torch.ones(2, 8))
    reply = child.perform(Request([asked]))
    assert reply.error is None
    torch.testing.assert_close(reply.value, torch.layer_norm(x, [8]))
    with pytest.raises(ChildGone) as gone:
        child.perform(Request([Call("layer_norm", args=(x,))]))
    assert gone.value.operation == "layer_norm"
    # What performed it ends with it.
    assert descendants() == before


def test_a_kernel_that_answers_is_found_before_grading(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine where what is written over a kernel has no effect."""
    monkeypatch.setattr(Sandbox, "ends_over", lambda sandbox, operation: operation != "rms_norm")
    with pytest.raises(NotIsolated, match="torch's rms_norm answers though it is sealed"):
        open_sandbox("tier2", BUDGET, FORBIDDEN, [])


@pytest.mark.parametrize(
    ("source", "operations"),
    [
        ("import torch.nn.functional as F\ny = F.layer_norm", {"layer_norm"}),
        ("from torch.nn import LayerNorm as L", {"layer_norm"}),
        ("def layer_norm(x): return x", set()),
        ('"""As F.layer_norm does."""', set()),
        ("import torch\ntorch.native_batch_norm(1)", {"batch_norm"}),
        (
            "from torch import nn\nnn.MultiheadAttention(8, 2)",
            {"multi_head_attention", "scaled_dot_product_attention"},
        ),
    ],
)
def test_what_a_file_may_call_is_what_it_names(source: str, operations: set[str]) -> None:
    assert operations_named(source.encode()) == operations


def test_each_stand_in_is_lent_its_own_operation_alone() -> None:
    folder = ROOT / "assignments" / "transformer_block" / "stand_ins"
    named = {path.stem: operations_named(path.read_bytes()) for path in folder.glob("*.py")}
    assert named == {
        "layer_norm": {"layer_norm"},
        "attention": {"scaled_dot_product_attention"},
        "multi_head_attention": {"multi_head_attention", "scaled_dot_product_attention"},
        "feed_forward": set(),
    }
