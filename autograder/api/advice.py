"""What a student can do about what is wrong: no more than holds wherever it is said."""

from __future__ import annotations

CUT = (
    "is it used at all, and not a copy of it? .detach(), .data, .item(), numpy, no_grad and "
    "torch.tensor(...) cut the way back"
)
NAN = (
    "NaN comes from 0 / 0, inf / inf, inf - inf, 0 * inf, the root or log of a negative number, or "
    "a softmax over nothing but -inf"
)
INFINITE = (
    "look for exp of a large number, a division by 0, the log of 0, and an infinity that was put "
    "in and is still there"
)
DEVICES = (
    "make new tensors on the input's device, as in torch.zeros(..., device=x.device), and bring "
    "kept ones there by .to(x.device)"
)
_OTHER_DTYPE = (
    "look at .float(), .double(), .to(...), and at new tensors, which are float32 unless dtype= "
    "says otherwise"
)
_WHOLE_NUMBERS = (
    "whole numbers come from argmax, the indices of max and topk, arange, //, .long() and tensors "
    "made of whole numbers"
)
_TRUTH = "True and False come from comparisons (==, <=), and from dtype=torch.bool"
OTHER_KIND = "look at .half(), .to(...), comparisons, and at the dtype= of new tensors"
BOOLEAN = "comparisons (==, <=) make True and False, and so does dtype=torch.bool"


def other_dtype(actual: str, wanted: str) -> str:
    """Say where numbers of a dtype come from that is not the one wanted, which is not boolean."""
    if actual == "bool":
        return _TRUTH
    if "float" in wanted and "int" in actual:
        return _WHOLE_NUMBERS
    return _OTHER_DTYPE
