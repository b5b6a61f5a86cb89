"""What is forbidden is refused at its kernel, whichever way it was reached."""

import subprocess
import sys

from autograder.rules.forbidden import OPERATIONS

# Each runs in a process of its own: kernels are not put back.
_BEGIN = f"""
import torch
from torch.nn import functional as F
from autograder.sandbox.kernels import find_kernels, watch_kernels
asked = []
watch_kernels(asked.append, find_kernels({list(OPERATIONS)}), "/handed-in", True)
x = torch.arange(24.0).reshape(2, 3, 4).requires_grad_()
def no_kernel(call):
    try:
        call()
    except NotImplementedError:
        pass
"""
WAYS = {
    "F.layer_norm(x, (4,)).sum().backward()": ["layer_norm"],
    "torch.ops.aten.native_layer_norm(x, [4], None, None, 1e-5)": ["layer_norm"],
    "torch.func.vmap(lambda row: F.layer_norm(row, (4,)))(x)": ["layer_norm"],
    "F.layer_norm(x.bfloat16(), (4,))": ["layer_norm"],
    "torch._fused_rms_norm(x, (4,), None, None)": ["rms_norm"],
    "F.group_norm(x, 1)": ["group_norm"],
    "torch._C._VariableFunctions.group_norm(x, 1)": ["group_norm"],
    "F.instance_norm(x)": ["instance_norm"],
    "torch._native_batch_norm_legit_no_training("
    "x, None, None, torch.zeros(3), torch.ones(3), 0.1, 1e-5)": ["batch_norm"],
    "no_kernel(lambda: F.batch_norm("
    "x.detach()[..., None].to_mkldnn(), *torch.ones(4, 3).unbind()))": ["batch_norm"],
    "F.scaled_dot_product_attention(x, x, x)": ["scaled_dot_product_attention"],
    "torch._C._nn.scaled_dot_product_attention(x, x, x, is_causal=True)": [
        "scaled_dot_product_attention"
    ],
    # Behind the guard, by what it is named after there.
    "F.multi_head_attention_forward(x, x, x, 4, 1, None, None, None, None, False, 0.0,"
    " torch.eye(4), None, use_separate_proj_weight=True, q_proj_weight=torch.eye(4),"
    " k_proj_weight=torch.eye(4), v_proj_weight=torch.eye(4))": ["multi_head_attention"],
    "no_kernel(lambda: torch.native_batch_norm("
    "x.detach()[..., None].to_mkldnn(), *torch.ones(4, 3).unbind(), False, 0.1, 1e-5))": [
        "batch_norm"
    ],
    "x.softmax(-1) @ x.mT; F.cross_entropy(x, x.softmax(1)); x.var(-1); x.norm()": [],
}


def test_every_way_asks_once_and_nothing_else_asks() -> None:
    lines = (f"{way}; print([asked.pop() for _ in asked[:]])" for way in WAYS)
    code = _BEGIN + "\n".join(lines)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [str(names) for names in WAYS.values()]


def test_what_is_computed_is_the_same_with_its_gradient() -> None:
    code = f"""
import torch
from torch.nn import functional as F
from autograder.sandbox.kernels import find_kernels, watch_kernels
def computed():
    x = torch.arange(24.0).reshape(2, 3, 4).requires_grad_()
    weight = torch.linspace(1, 2, 4).requires_grad_()
    found = [F.layer_norm(x, (4,), weight), F.rms_norm(x, (4,), weight), F.group_norm(x, 3)]
    found += [F.batch_norm(x, None, None, training=True), F.scaled_dot_product_attention(x, x, x)]
    sum(value.sin().sum() for value in found).backward()
    return [*found, x.grad, weight.grad]
before = computed()
watch_kernels(lambda name: None, find_kernels({list(OPERATIONS)}), "/handed-in", True)
print(all(map(torch.equal, before, computed())))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout == "True\n", done.stderr


def test_a_refusal_ends_the_call_and_the_next_is_asked_again() -> None:
    code = f"""
import torch
from torch.nn import functional as F
from autograder.sandbox.kernels import find_kernels, watch_kernels
def refuse(name):
    raise ZeroDivisionError(name)
watch_kernels(refuse, find_kernels({list(OPERATIONS)}), "/handed-in", True)
for _ in range(2):
    try:
        torch.nn.LayerNorm(4)(torch.ones(2, 4))
    except ZeroDivisionError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout == "layer_norm\n" * 2, done.stderr


def test_who_disarms_the_guard_is_refused_all_the_same() -> None:
    code = f"""
import torch
from torch.nn import functional as F
from autograder.sandbox.kernels import find_kernels, refusing, watch_kernels
given = {{"given.py": b"F.layer_norm(x)", "provided/more.py": b"nn.MultiheadAttention"}}
check, unreported = refusing(lambda name: None, "/handed-in", given)
watch_kernels(check, find_kernels({list(OPERATIONS)}), "/handed-in", True)
places = ("/handed-in/own.py", "/handed-in/given.py", "/handed-in/provided/more.py")
for place in (*places, "/elsewhere/own.py"):
    text = "F.layer_norm(torch.ones(2, 4), (4,))"
    try:
        exec(compile(text, place, "exec"))
        print(place, "computes")
    except RuntimeError as error:
        print(place, "is refused", error)
print(unreported)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout.splitlines() == [
        "/handed-in/own.py is refused layer_norm",
        "/handed-in/given.py computes",
        "/handed-in/provided/more.py computes",
        "/elsewhere/own.py is refused layer_norm",
        "['layer_norm', 'layer_norm']",
    ], done.stderr


def test_a_file_that_may_use_operations_lends_what_is_written_out_only_if_it_names_it() -> None:
    code = f"""
import torch
from torch.nn import functional as F
from autograder.sandbox.kernels import find_kernels, refusing, watch_kernels
given = {{"attention.py": b"F.scaled_dot_product_attention", "heads.py": b"nn.MultiheadAttention"}}
check, unreported = refusing(lambda name: None, "/handed-in", given)
watch_kernels(check, find_kernels({list(OPERATIONS)}), "/handed-in", True)
x = torch.ones(3, 2, 4)
texts = ("F.scaled_dot_product_attention(x, x, x)", "torch.nn.MultiheadAttention(4, 2)(x, x, x)")
for file in given:
    for text in texts:
        try:
            exec(compile(text, "/handed-in/" + file, "exec"))
            print(file, "computes")
        except RuntimeError as error:
            print(file, "is refused", error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout.splitlines() == [
        "attention.py computes",
        "attention.py is refused multi_head_attention",
        "heads.py computes",
        "heads.py computes",
    ], done.stderr


def test_where_nobody_may_use_them_nothing_computes_them_any_more() -> None:
    code = f"""
import gc
import weakref
import torch
from torch.nn import functional as F
from autograder.sandbox.kernels import find_kernels, watch_kernels
def held():
    found = [one for one in gc.get_objects() if type(one).__name__ == "_DispatchModule"]
    return len(found), len(weakref.finalize._registry)
asked, before = [], held()
kernels = find_kernels({list(OPERATIONS)})
watch_kernels(asked.append, kernels, "/handed-in", False)
kernels.clear()
x = torch.arange(24.0).reshape(2, 3, 4).requires_grad_()
aten, one, mask = torch.ops.aten, torch.ones(6, 1), [True, False, False]
ways = [
    lambda: F.layer_norm(x, (4,)),
    lambda: aten.native_layer_norm(x, [4], None, None, 1e-5),
    lambda: aten.native_layer_norm_backward(x, x, [4], one, one, None, None, mask),
    lambda: aten.native_group_norm_backward(x, x, one, one, None, 2, 3, 4, 1, mask),
    lambda: F.scaled_dot_product_attention(x, x, x),
    lambda: torch._C._jit_to_static_module(torch._C.parse_ir("graph(%x : Tensor): return (%x)")),
]
for way in ways:
    try:
        way()
        print("computes")
    except (RuntimeError, AttributeError) as error:
        print(type(error).__name__, *[asked.pop() for _ in asked[:]])
(x.softmax(-1) @ x.mT + F.cross_entropy(x, x.softmax(1)) + x.var(-1).mean()).sum().backward()
print(held() == before)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout.splitlines() == [
        *["RuntimeError layer_norm"] * 3,
        "RuntimeError group_norm",
        "RuntimeError scaled_dot_product_attention",
        "AttributeError",
        "True",
    ], done.stderr


_OWN = """
class Mode(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if "layer_norm" in str(function):
            try:
                torch.ops.aten.native_group_norm(x, None, None, 2, 3, 4, 1, 1e-5)
                print("computes")
            except RuntimeError as error:
                print("is refused", error)
        return function(*args, **(kwargs or {}))
"""


def test_what_a_submission_runs_inside_of_an_allowed_operation_is_asked_about() -> None:
    code = f"""
import torch
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode
from autograder.sandbox.kernels import find_kernels, refusing, watch_kernels
check, unreported = refusing(lambda name: None, "/handed-in", {{"given.py": b"F.layer_norm(x)"}})
watch_kernels(check, find_kernels({list(OPERATIONS)}), "/handed-in", True)
x = torch.ones(2, 3, 4)
exec(compile({_OWN!r}, "/handed-in/own.py", "exec"))
with Mode():
    exec(compile("F.layer_norm(x, (4,))", "/handed-in/given.py", "exec"))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout == "is refused group_norm\n", done.stderr


def test_a_file_that_lends_attention_does_not_lend_heads_without_weights() -> None:
    code = f"""
import torch
from torch.nn import functional as F
from autograder.sandbox.kernels import find_kernels, refusing, watch_kernels
given = {{"given.py": b"F.scaled_dot_product_attention"}}
check, unreported = refusing(lambda name: None, "/handed-in", given)
watch_kernels(check, find_kernels({list(OPERATIONS)}), "/handed-in", True)
x = torch.ones(3, 2, 4)
text = "torch.nn.MultiheadAttention(4, 2)(x, x, x, need_weights=False)"
try:
    exec(compile(text, "/handed-in/given.py", "exec"))
except RuntimeError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout == "multi_head_attention\n", done.stderr
