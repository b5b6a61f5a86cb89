"""What went wrong, in words: advice where torch is terse, and no value of a hidden check."""

import pytest
import torch

from autograder.api.answer import Question, StudentRaised
from autograder.api.messages import StudentError
from autograder.api.wording import find


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("The size of tensor a (4) must match the size of tensor b (2)", "keepdim=True"),
        ("mat1 and mat2 shapes cannot be multiplied (4x4 and 6x4)", "print both shapes"),
        ("'Net' object has no attribute 'linear_2'", "spelled as in __init__"),
        ("Boolean value of Tensor with more than one value is ambiguous", "is not None"),
    ],
)
def test_advice_follows_what_torch_says(text: str, said: str) -> None:
    raised = StudentRaised(StudentError("RuntimeError", "call", text), Question("f", ()))
    assert said in find(raised, None).message.partition("hint: ")[2]


def test_the_advice_is_for_what_torch_really_says() -> None:
    x = torch.ones(2, 3)
    for wrong in (
        lambda: x - x.mean(-1),
        lambda: x @ x,
        lambda: torch.ones(2, 3, 4) @ torch.ones(2, 3, 4),
        lambda: x.reshape(4, 4),
        lambda: x.T.view(6),
        lambda: x.mean(4),
        lambda: x @ x.T.double(),
        lambda: bool(x > 0),
        lambda: x.frobnicate(),
        lambda: torch.nn.Linear(1),
        lambda: x.cuda(),
    ):
        with pytest.raises(Exception) as caught:
            wrong()
        error = StudentError("RuntimeError", "call", str(caught.value))
        assert "hint: " in find(StudentRaised(error, Question("f", ())), None).message


def test_a_clash_of_devices_says_what_to_do_about_it() -> None:
    error = StudentError("DeviceMismatch", "call", "not the same device", "a.py", 3)
    fact, _, hint = find(StudentRaised(error, Question("f", ())), None).message.partition("hint: ")
    assert fact.startswith("tensors on different devices were mixed (a.py, line 3)\n")
    # New ones, and those that were made before.
    assert "device=x.device" in hint and ".to(x.device)" in hint


def test_a_check_that_stumbles_names_the_call() -> None:
    message = find(RuntimeError("no"), Question("f", (("", 3),))).message
    assert message.endswith("could not read\nin f(3)")
    assert find(RuntimeError("no"), None).message.endswith("could not read")


def test_a_transposed_weight_is_told() -> None:
    error = StudentError("StateShape", "load", key="linear1.weight", shape=(2, 3), wanted=(3, 2))
    message = find(StudentRaised(error, Question("f", ())), None).message
    assert "`linear1.weight` has shape (2, 3), expected (3, 2): nn.Linear(a, b)" in message


def hint_of(code: str) -> str:
    """The advice on what a line of a student's raises."""
    x = torch.ones(2, 3)
    with pytest.raises(Exception) as caught:
        exec(code, {"x": x, "torch": torch, "mask": torch.ones(4, 3).bool()})
    error = StudentError("RuntimeError", "call", str(caught.value))
    return find(StudentRaised(error, Question("f", ())), None).message.partition("hint: ")[2]


@pytest.mark.parametrize(
    ("code", "said", "not_said"),
    [
        # It is no mean or sum that does not fit: what is said holds for every shape.
        ("x.masked_fill(mask, 0.0)", "two sizes must be equal or one of them 1", "a mean or sum"),
        ("x - x.mean(-1)", "keepdim=True", "mask"),
        ("bool(x > 0)", ".any() or .all()", "mask"),
        ("None.size(0)", "something is None", "spelled as in __init__"),
        ("(x, x).size(0)", "take apart", "spelled as in __init__"),
        ("a, b = None", "something is None", "take apart"),
        ("torch.relu((x, x))", "take apart", "definition"),
        ("torch.cat([x, x.T], dim=1)", "joined", "unsqueeze"),
        ("x.expand(3, 3)", "unsqueeze", "joined"),
        ("x.frobnicate()", "spelled right", "__init__"),
        ("torch.zeros()", "definition", "stub"),
        ("x.T.view(6)", "reshape", "transpose"),
        ("f = lambda: f()\nglobals()['f'] = f\nf()", "calls itself", "definition"),
        ("x[:1].expand(4, 3).add_(1)", "expanded tensor", "unsqueeze"),
        ("x.bfloat16().numpy()", "torch has the same", "keepdim"),
        ("x.requires_grad_().numpy()", "no .detach() is needed", "keepdim"),
    ],
)
def test_advice_claims_no_cause_that_the_error_does_not_show(code, said, not_said) -> None:
    found = hint_of(code)
    assert said in found
    assert not_said not in found
