"""What your own code does, as tables and pictures; nothing here is marked.

One function a component. Expected numbers are those that the course documents print. A picture is
left out where an answer has another shape than was asked for: its check says so.
"""

import json
from pathlib import Path

import torch

WALKTHROUGH = json.loads((Path(__file__).parent / "walkthrough.json").read_text("utf-8"))
YOURS = "your code"


def learned_positions(component, show):
    """TODO(author): learned_positions."""


def relative_positions(component, show):
    """TODO(author): relative_positions."""


def encoder(component, show):
    """TODO(author): encoder."""


def classifier(component, show):
    """TODO(author): classifier."""


def language_model(component, show):
    """TODO(author): language_model."""


def training(component, show):
    """TODO(author): training."""


def generate(component, show):
    """TODO(author): generate."""


def cost(component, show):
    """TODO(author): cost."""


def fits(answer, *shape, dtype=None):
    """Tell whether an answer has this shape, and this dtype or any of real numbers."""
    right = answer.is_floating_point() if dtype is None else answer.dtype == dtype
    return answer.shape == shape and right
