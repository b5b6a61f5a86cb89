"""What went wrong, in words: advice where torch is terse, and no value of a hidden check."""

import pytest
import torch

from autograder.exchange.messages import StudentError
from autograder.suite.answer import Question, StudentRaised
from autograder.suite.wording import find


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
    ):
        with pytest.raises(Exception) as caught:
            wrong()
        error = StudentError("RuntimeError", "call", str(caught.value))
        assert "hint: " in find(StudentRaised(error, Question("f", ())), None).message


def test_a_transposed_weight_is_told() -> None:
    error = StudentError("StateShape", "load", key="linear1.weight", shape=(2, 3), wanted=(3, 2))
    message = find(StudentRaised(error, Question("f", ())), None).message
    assert "`linear1.weight` has shape (2, 3), expected (3, 2): nn.Linear(a, b)" in message
