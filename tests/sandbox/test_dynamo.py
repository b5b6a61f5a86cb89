"""What stands for torch's compiler does what optimizers ask of it, and loads it for all else."""

import subprocess
import sys

import pytest

RELEASE = pytest.mark.release

# A step of each optimizer, and a checkpoint; prints what came of it, exactly.
_USE = """
import torch
import torch.utils.checkpoint
torch.manual_seed(0)
x = torch.randn(2, 3, 4, requires_grad=True)
model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.GELU())
for name in ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "LBFGS", "NAdam"):
    optimizer = getattr(torch.optim, name)(model.parameters(), lr=0.1)
    def closure():
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        return loss
    optimizer.step(closure)
    optimizer.load_state_dict(optimizer.state_dict())
torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10).step()
for reentrant in (False, True):
    torch.utils.checkpoint.checkpoint(model, x, use_reentrant=reentrant).sum().backward()
print([value.sum().item() for value in (*model.parameters(), x.grad)])
"""
_LATER = "from autograder.sandbox.dynamo import load_later; load_later()\n"
_IS_LOADED = "\nimport sys; print('torch._dynamo.eval_frame' in sys.modules)"


def printed(code: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_optimizers_and_checkpoints_compute_the_same_and_need_no_compiler() -> None:
    values, loaded = printed(_LATER + _USE + _IS_LOADED)
    assert loaded == "False"
    assert printed(_USE + _IS_LOADED) == [values, "True"]


@pytest.mark.parametrize(
    ("use", "result"),
    [
        ("torch.compile(lambda x: x + 1, backend='eager')(torch.ones(2)).tolist()", "[2.0, 2.0]"),
        pytest.param(
            "torch.func.grad(lambda x: (x * x).sum())(torch.ones(2)).tolist()",
            "[2.0, 2.0]",
            marks=RELEASE,
        ),
        pytest.param("torch._dynamo.is_compiling()", "False", marks=RELEASE),
        pytest.param(
            "__import__('torch._dynamo.utils')._dynamo.utils.counters.__class__.__name__",
            "defaultdict",
            marks=RELEASE,
        ),
        pytest.param(
            "__import__('torch._inductor.config')._inductor.config.debug", "False", marks=RELEASE
        ),
    ],
)
def test_what_needs_the_compiler_gets_it(use: str, result: str) -> None:
    code = f"import torch, sys\n{_LATER}print({use}){_IS_LOADED}\n"
    code += "print(sys.modules['torch._dynamo'] is torch._dynamo,"
    code += "torch._dynamo.disable.__module__)"
    found, loaded, place = printed(code)
    assert (found, loaded) == (result, "True")
    # Afterwards it is where it would have been.
    assert place == "True torch._dynamo.decorators"


def test_the_settings_come_alone() -> None:
    code = f"import torch\n{_LATER}print(torch._dynamo.config.suppress_errors){_IS_LOADED}"
    assert printed(code) == ["False", "False"]


@RELEASE
def test_one_that_is_loaded_stays() -> None:
    code = f"import torch, torch._dynamo\n{_LATER}print(torch._dynamo.__class__.__name__)"
    assert printed(code) == ["module"]
