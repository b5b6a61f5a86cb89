"""What the fork server does once, so that every child finds it done. In the sandbox, and trusted.

Most of it only saves time. The first computations do not: a library looks at the processor before
its first one, in files that no child can open, and never again. Those of all libraries that need it
are in `_FIRST`.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from autograder.api.executor import seed_all
from autograder.sandbox.dynamo import load_later


def warm_up(packages: Mapping[str, Sequence[str]]) -> None:
    """Import packages, and run once what is slow, or not possible, in a child.

    Args:
        packages: modules of the packages that an assignment names, by distribution.

    Raises:
        RuntimeError: one of the packages cannot be imported, or starts a thread.
    """
    import inspect

    for package, modules in packages.items():
        _import(package, modules)
        _FIRST.get(package.lower(), _nothing)()
    inspect.getsource(Path)
    # numpy imports its generators when they are used.
    seed_all(0)
    threads = len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 1
    if threads != 1:
        raise RuntimeError(
            f"one of the packages {', '.join(packages)} starts a thread when it is imported: "
            "children cannot be given it"
        )


def complete_torch() -> None:
    """Load what few use, and takes a second; that is done once, however often it is asked."""
    import torch

    x = torch.zeros(2)
    torch.func.grad(lambda values: values.sum())(x)
    torch.testing.assert_close(x, x)


def _import(package: str, modules: Sequence[str]) -> None:
    """Import what a distribution holds; one of its modules must be there for everyone."""
    failed = None
    for name in modules:
        try:
            importlib.import_module(name)
        except Exception as error:
            failed = failed or error
        else:
            return
    if failed is not None:
        raise RuntimeError(f"the package {package!r} cannot be imported in the sandbox: {failed}")


def _nothing() -> None:
    pass


def _begin_torch() -> None:
    import torch

    torch.set_num_threads(1)
    load_later()
    # While files can be opened: `_find_no_gpu` computes, too.
    _compute_torch()
    _find_no_gpu()
    _warm_torch()
    # No child can start a compiler, and what is compiled computes the same.
    torch.compile = _uncompiled
    # Nor is there a process that a child could share memory with.
    storage: Any = torch.UntypedStorage
    storage.share_memory_, storage.is_shared = _shared_with_nobody, _is_shared


def _compute_torch() -> None:
    """Compute once by each of the libraries that torch looks at the processor with."""
    import torch
    from torch.nn import functional

    square = torch.eye(4)
    (square @ square).exp()
    square.to(torch.float16).to(torch.float32)
    functional.conv1d(square.bfloat16(), square.bfloat16().unsqueeze(-1))
    functional.embedding_bag(torch.tensor([[0, 1]]), square)


def _find_no_gpu() -> None:
    """Have torch look for GPUs, which it does once, while no file can be opened.

    Otherwise the GPU's driver starts a thread, also where no GPU is visible.
    """
    import resource
    import warnings

    import torch

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # It looks when it computes the first gradient.
            torch.autograd.backward(torch.zeros(1, requires_grad=True).sum())
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    # A child that asks for a GPU hears that there is none, as at home, and nothing about forks.
    if hasattr(torch._C, "_cuda_init"):
        torch.cuda._lazy_init = _no_gpu


def _no_gpu() -> NoReturn:
    raise RuntimeError("No CUDA GPUs are available")


def _warm_torch() -> None:
    import numpy
    import torch.utils.checkpoint

    x = torch.randn(2, 3, 4, requires_grad=True)
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.GELU(), torch.nn.Dropout(0.5))
    for optimizer in (torch.optim.SGD, torch.optim.Adam):
        step = optimizer(model.parameters(), lr=0.0)
        loss = torch.einsum("bij,bkj->bik", model(x), x).softmax(-1).square().mean()
        torch.autograd.backward(loss)
        step.step()
    torch.utils.checkpoint.checkpoint(model, x, use_reentrant=False)
    torch.func.vmap(lambda row: row.sum())(x.detach())
    torch.from_numpy(numpy.zeros(2)).to(torch.bfloat16).sum().item()
    torch.nn.Linear(4, 4).to("meta")(torch.empty(2, 4, device="meta"))
    repr(x)


def _uncompiled(model: Any = None, **options: Any) -> Any:
    """Stand where torch.compile does, with arguments or without, and compile nothing."""
    return (lambda later: later) if model is None else model


def _shared_with_nobody(storage: Any) -> Any:
    storage.shared_with_nobody = True
    return storage


def _is_shared(storage: Any) -> bool:
    return hasattr(storage, "shared_with_nobody")


def _compute_numpy() -> None:
    import numpy

    square = numpy.eye(4)
    numpy.linalg.solve(square @ square, square)
    numpy.fft.rfft(square)


def _compute_scipy() -> None:
    import numpy
    from scipy import fft, linalg, special  # type: ignore[import-untyped]

    square = numpy.eye(4)
    linalg.solve(square, square)
    fft.rfft(special.expit(square))


def _draw_matplotlib() -> None:
    import matplotlib.pyplot

    figure = matplotlib.pyplot.figure()
    figure.subplots().plot([0, 1])
    figure.canvas.draw()
    matplotlib.pyplot.close(figure)


# By distribution, what its first computations are; those of torch come with all else of it.
_FIRST: Mapping[str, Callable[[], None]] = {
    "torch": _begin_torch,
    "numpy": _compute_numpy,
    "scipy": _compute_scipy,
    "matplotlib": _draw_matplotlib,
}
