"""The language modelling head: from the last hidden vectors to scores over the vocabulary.

Source: slides, pages 28 to 30.
"""

import torch
from torch import Tensor, nn


class TiedLMHead(nn.Module):
    """An unembedding that is the transpose of the embedding matrix, sharing its one Parameter.

    Parameters, by their `state_dict` keys:
        embedding.weight: (V, D), the very Parameter of the embedding that was given.

    Source: slides, page 30.
    """

    def __init__(self, embedding: nn.Embedding) -> None:
        """Share the weight (V, D) of `embedding`: a change to one is a change to both."""
        super().__init__()
        # Your code here.
        raise NotImplementedError

    def forward(self, hidden: Tensor) -> Tensor:
        """Score every word of the vocabulary at every position of `hidden` (B, T, D).

        Returns:
            The logits hidden · Eᵀ, of shape (B, T, V), with the dtype and device of `hidden`.

        Source: slides, page 30.
        """
        # Your code here.
        raise NotImplementedError

    def next_token_probabilities(self, hidden: Tensor) -> Tensor:
        """Compute how likely every word is to follow the sequences of `hidden` (B, T, D).

        Returns:
            Tensor of shape (B, V), every row summing to 1: the softmax of the logits at the last
            position.

        Source: slides, page 28.
        """
        # Your code here.
        raise NotImplementedError
