"""What a stand-in may call is performed by another process, as it would be in its own."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from autograder.exchange.messages import Reply
from autograder.sandbox.lender import Lender, offered
from autograder.sandbox.replies import encode_reply
from tests.conftest import ROOT

pytestmark = pytest.mark.slow

LENT = ("scaled_dot_product_attention", "layer_norm", "batch_norm", "multi_head_attention")
HEADS = "torch.nn.functional.multi_head_attention_forward"
SERVE = (
    "import sys\nfrom autograder.sandbox.lender import lend\nlend(int(sys.argv[1]), sys.argv[2:])\n"
)


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        number = theirs.fileno()
        command = [sys.executable, "-c", SERVE, str(number), *LENT]
        process = subprocess.Popen(command, cwd=ROOT, pass_fds=[number])
        theirs.close()
        yield ours.fileno(), process
    assert process.wait(60) == 0


@pytest.fixture
def lent(served: tuple[int, object]) -> Callable[..., Callable[..., Any]]:
    lender = Lender(served[0])
    return lambda name, differentiable=True: lender.function(name, differentiable)


def parts(*shape: int, dtype: torch.dtype = torch.float32) -> list[Tensor]:
    generator = torch.Generator().manual_seed(3)
    return [torch.randn(*shape, generator=generator).to(dtype).requires_grad_() for _ in "qkv"]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_values_and_gradients_are_the_same(lent, dtype: torch.dtype) -> None:
    attend = lent("scaled_dot_product_attention")
    mask = torch.ones(5, 5, dtype=torch.bool).tril()
    found = []
    for function in (F.scaled_dot_product_attention, attend):
        inputs = parts(2, 3, 5, 4, dtype=dtype)
        # Not contiguous, and part of a larger graph.
        result = function(inputs[0].mT.contiguous().mT, *inputs[1:], attn_mask=mask) * 2
        gradients = torch.autograd.grad(result.square().sum(), inputs)
        found.append([result.detach(), *gradients])
    for right, here in zip(*found, strict=True):
        assert here.dtype == dtype
        # Of this dtype gradients are off by as much anyhow.
        rough = {"rtol": 2e-2, "atol": 0.1} if dtype == torch.bfloat16 else {}
        torch.testing.assert_close(here, right, **rough)


def test_without_gradients_there_is_no_graph(lent) -> None:
    attend = lent("scaled_dot_product_attention")
    with torch.no_grad():
        assert not attend(*parts(1, 2, 3)).requires_grad
    assert not attend(*(part.detach() for part in parts(1, 2, 3))).requires_grad
    assert attend(*parts(1, 2, 3)).requires_grad


def test_a_part_that_needs_none_gets_no_gradient(lent) -> None:
    query, key, value = parts(1, 2, 3)
    lent("scaled_dot_product_attention")(query, key.detach(), value).sum().backward()
    assert query.grad is not None
    assert key.grad is None


def test_what_maps_over_a_function_maps_over_it(lent) -> None:
    attend = lent("scaled_dot_product_attention")
    inputs = [part.detach() for part in parts(4, 5, 3)]
    right = F.scaled_dot_product_attention(*inputs)
    torch.testing.assert_close(torch.func.vmap(attend)(*inputs), right)
    shared = torch.func.vmap(attend, in_dims=(0, None, None))(
        inputs[0], *(p[0] for p in inputs[1:])
    )
    expected = F.scaled_dot_product_attention(
        inputs[0], *(p[:1].expand(4, 5, 3) for p in inputs[1:])
    )
    torch.testing.assert_close(shared, expected)

    def total(function: Callable[..., Tensor], query: Tensor) -> Tensor:
        return function(query, *inputs[1:]).square().sum()

    gradients = [
        torch.func.grad(lambda query, f=function: total(f, query))(inputs[0])
        for function in (F.scaled_dot_product_attention, attend)
    ]
    torch.testing.assert_close(*gradients)


def test_random_draws_are_those_of_the_seed(lent) -> None:
    inputs = parts(2, 6, 8)
    found = []
    for function in (F.scaled_dot_product_attention, lent("scaled_dot_product_attention")):
        torch.manual_seed(11)
        result = function(*inputs, dropout_p=0.5)
        gradient = torch.autograd.grad(result.sum(), inputs[2])[0]
        found.append([result.detach(), gradient, torch.rand(3)])
    for right, here in zip(*found, strict=True):
        torch.testing.assert_close(here, right)


def test_what_is_changed_in_place_is_changed_here(lent) -> None:
    x = parts(6, 4)[0].detach()
    found = []
    for function in (torch.batch_norm, lent("batch_norm")):
        mean, variance = torch.zeros(4), torch.ones(4)
        # weight, bias, mean, variance, training, momentum, eps, cudnn
        result = function(x, None, None, mean, variance, True, 0.1, 1e-5, False)
        found.append([result, mean, variance])
    for right, here in zip(*found, strict=True):
        torch.testing.assert_close(here, right)
    assert bool(found[1][1].any())


def test_several_results_come_back(lent) -> None:
    x = parts(3, 2, 4)[0]
    weight, bias, out = torch.eye(4).repeat(3, 1), torch.zeros(12), torch.eye(4).requires_grad_()
    given = (x, x, x, 4, 2, weight, bias, None, None, False, 0.0, out, None)
    found = []
    for function in (F.multi_head_attention_forward, lent(HEADS)):
        result, weights = function(*given, average_attn_weights=False)
        found.append(
            [result.detach(), weights.detach(), *torch.autograd.grad(result.sum(), [x, out])]
        )
    for right, here in zip(*found, strict=True):
        torch.testing.assert_close(here, right)


def test_tensors_without_values_have_none_after_it(lent) -> None:
    x = torch.empty(2, 3, 4, device="meta")
    result = lent("layer_norm")(x, [4])
    assert (result.device.type, result.shape) == ("meta", (2, 3, 4))


def test_what_it_raises_is_raised_here(lent) -> None:
    with pytest.raises(RuntimeError, match="normalized_shape"):
        lent("layer_norm")(torch.ones(2, 3), [5])
    with pytest.raises(RuntimeError, match="instead found type 'str'"):
        lent("layer_norm")("no tensor", [5])
    # And it goes on.
    assert lent("layer_norm")(torch.ones(2, 3), [3]).shape == (2, 3)


@pytest.mark.parametrize("name", ["group_norm", "torch.save", "__class__", "rms_norm", ""])
def test_nothing_else_is_performed(lent, name: str) -> None:
    with pytest.raises(KeyError):
        lent(name)(torch.ones(2, 3), 1)


def test_what_is_offered_are_the_functions_of_these_operations() -> None:
    assert set(offered(["rms_norm"])) == {
        *("rms_norm", "_fused_rms_norm", "torch._decomp.decompositions._fused_rms_norm"),
        "torch.nn.functional.local_response_norm",
    }
    assert offered([]) == {}


@pytest.mark.parametrize(
    "sent",
    [b"\0" * 64, encode_reply(Reply(value=7), 0), encode_reply(Reply(value={"call": []}), 0)],
)
def test_other_questions_end_it_or_are_refused(sent: bytes) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        number = theirs.fileno()
        command = [sys.executable, "-c", SERVE, str(number), *LENT]
        process = subprocess.Popen(command, cwd=ROOT, pass_fds=[number], stderr=subprocess.DEVNULL)
        theirs.close()
        ours.sendall(sent)
        ours.shutdown(socket.SHUT_WR)
        said = b""
        # Reset, where it ended over what it was sent.
        with contextlib.suppress(ConnectionResetError), ours.makefile("rb") as answer:
            said = answer.read()
    process.wait(60)
    assert not said or b'"error"' in said
