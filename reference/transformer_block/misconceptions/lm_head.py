"""The language modelling head with one mistake in it, or several; with none it is right."""

import math

import torch
from torch import Tensor, nn

# Name: what to tell the student, and where the course treats it.
MISCONCEPTIONS = {
    "cloned_weight": (
        "you copied the embedding's weight, so the two drift apart; the head has to hold the same "
        "Parameter",
        "slides, page 30",
    ),
    "rewrapped_parameter": (
        "you made a second Parameter of the embedding's data; the memory is shared, the gradient "
        "is not, so take the Parameter itself",
        "slides, page 30",
    ),
    "own_weights": (
        "you gave the head a fresh weight matrix of its own; the course reuses the embedding "
        "matrix",
        "slides, page 30",
    ),
    "other_key": (
        "your shared weight is saved under another name; in the state_dict it is called "
        "embedding.weight",
        "slides, page 30",
    ),
    "extra_bias": (
        "your head has a bias; the course has the transposed embedding matrix and nothing else",
        "slides, page 30",
    ),
    "not_transposed": (
        "you multiplied with the embedding matrix as it stands; it needs its transpose, so that "
        "every word gets a score",
        "slides, page 30",
    ),
    "scaled_logits": (
        "you divided the scores by the root of d, as in attention; here they stay as they are",
        "slides, page 30",
    ),
    "probabilities_in_forward": (
        "your forward already applies the softmax; it returns the raw scores, the softmax comes "
        "in next_token_probabilities",
        "slides, pages 28 and 30",
    ),
    "log_probabilities": (
        "you returned logarithms of probabilities (log_softmax); the course wants the "
        "probabilities, which sum to 1",
        "slides, page 28",
    ),
    "first_token": (
        "you read the next word from the first token; the head looks at the last one",
        "slides, page 28",
    ),
    "averaged_tokens": (
        "you averaged over all the tokens; the next word is read from the last token alone",
        "slides, page 28",
    ),
    "all_positions": (
        "you returned probabilities for every position; only those at the last token are asked for",
        "slides, page 28",
    ),
    "position_kept": (
        "your result still has a dimension of size 1 for the position; there is one row of "
        "probabilities per sequence",
        "slides, page 28",
    ),
    "softmax_over_batch": (
        "your softmax runs over the first dimension, the batch; it belongs over the words",
        "slides, page 28",
    ),
    "softmax_over_positions": (
        "your softmax runs over the positions, so tokens compete instead of words; it belongs "
        "over the words",
        "slides, page 28",
    ),
    "naive_softmax": (
        "you wrote the softmax as exp over a sum of exp; scores in the hundreds overflow, unless "
        "the largest is subtracted first",
        "slides, page 28",
    ),
    "weight_detached": (
        "you used the weight outside the graph (.data or .detach()); training the head should "
        "train the embedding",
        "slides, page 30",
    ),
    "hidden_detached": (
        "you cut the hidden vectors out of the graph (.detach() or .data), so the layers below "
        "get no gradient",
        "slides, page 30",
    ),
    "float32_result": (
        "you computed the scores in float32 and returned that; the result keeps the dtype of "
        "hidden",
        "slides, page 30",
    ),
    "cpu_tensor": (
        "you collect the scores in a new tensor on the CPU; it belongs on the device of hidden",
        "slides, page 30",
    ),
    "in_place": (
        "you turned hidden around in place (.transpose_() or another name ending in _); the "
        "caller's tensor changes with it",
        "slides, page 30",
    ),
    "view": (
        "you reshaped hidden with .view(), which refuses a transposed or expanded input; any "
        "memory layout is allowed",
        "slides, page 30",
    ),
    "second_key": (
        "you keep the shared weight under a second name, too (proj.weight); the state_dict has "
        "embedding.weight and nothing else",
        "slides, page 30",
    ),
    "log_probabilities_in_forward": (
        "your forward already applies log_softmax; it returns the raw scores",
        "slides, pages 28 and 30",
    ),
    "last_token_in_forward": (
        "your forward scores the last token alone; it scores every position, and only "
        "next_token_probabilities picks the last one",
        "slides, pages 28 and 30",
    ),
    "logits_returned": (
        "your next_token_probabilities returns the scores; a softmax over the words makes them "
        "probabilities",
        "slides, page 28",
    ),
    "argmax_returned": (
        "your next_token_probabilities returns the most likely word; the probabilities of all "
        "words are asked for",
        "slides, page 28",
    ),
    "sigmoid_instead": (
        "you took the sigmoid of each score, so the words do not sum to 1; a softmax compares "
        "them with each other",
        "slides, page 28",
    ),
    "last_of_batch": (
        "you picked the last sequence of the batch; pick the last token of every sequence",
        "slides, page 28",
    ),
}
# The mistakes in force.
WRONG: frozenset[str] = frozenset()


def wrong(name: str) -> bool:
    """Tell whether this mistake is in force."""
    return name in WRONG


class TiedLMHead(nn.Module):
    """An unembedding that is the transpose of the embedding matrix, sharing its one Parameter."""

    def __init__(self, embedding: nn.Embedding) -> None:
        super().__init__()
        words, features = embedding.weight.shape
        shared = embedding.weight  # (V, D)
        if wrong("own_weights"):
            embedding = nn.Embedding(words, features)
        elif wrong("cloned_weight"):
            embedding = nn.Embedding(words, features, _weight=shared.detach().clone())
        elif wrong("rewrapped_parameter"):
            embedding = nn.Embedding(words, features, _weight=shared.data)
        if wrong("other_key"):
            self.weight = embedding.weight
        else:
            self.embedding = embedding
        if wrong("second_key"):
            self.proj = nn.Linear(features, words, bias=False)
            self.proj.weight = embedding.weight
        if wrong("extra_bias"):
            self.bias = nn.Parameter(torch.zeros(words))

    def forward(self, hidden: Tensor) -> Tensor:
        """Score every word of the vocabulary at every position of `hidden` (B, T, D)."""
        weight = self.weight if wrong("other_key") else self.embedding.weight  # (V, D)
        if wrong("weight_detached"):
            weight = weight.detach()
        tokens = hidden  # (B, T, D)
        if wrong("view"):
            tokens = hidden.view(-1, hidden.size(-1)).view(hidden.shape)
        if wrong("in_place"):
            tokens = hidden.transpose_(-2, -1).transpose(-2, -1)
        if wrong("hidden_detached"):
            tokens = tokens.detach()
        if wrong("float32_result"):
            tokens, weight = tokens.float(), weight.float()

        logits = tokens @ (weight if wrong("not_transposed") else weight.T)  # (B, T, V)
        if wrong("scaled_logits"):
            logits = logits / math.sqrt(hidden.size(-1))
        if wrong("extra_bias"):
            logits = logits + self.bias
        if wrong("cpu_tensor"):
            logits = torch.zeros(logits.shape, dtype=logits.dtype) + logits
        if wrong("last_token_in_forward"):
            logits = logits[:, -1]  # (B, V)
        if wrong("log_probabilities_in_forward"):
            logits = torch.log_softmax(logits, dim=-1)
        return torch.softmax(logits, dim=-1) if wrong("probabilities_in_forward") else logits

    def next_token_probabilities(self, hidden: Tensor) -> Tensor:
        """Compute how likely every word is to follow the sequences of `hidden` (B, T, D)."""
        logits = self(hidden)  # (B, T, V)
        if wrong("last_token_in_forward"):
            logits = logits.unsqueeze(1)  # (B, 1, V)
        if wrong("averaged_tokens"):
            logits = logits.mean(dim=1, keepdim=True)  # (B, 1, V)
        probabilities = _softmax(logits)  # (B, T, V)
        if wrong("last_of_batch"):
            return probabilities[-1]  # (T, V)
        if wrong("all_positions"):
            return probabilities
        position = 0 if wrong("first_token") else -1
        if wrong("position_kept"):
            return probabilities[:, position].unsqueeze(1)  # (B, 1, V)
        chosen = probabilities[:, position]  # (B, V)
        return chosen.argmax(dim=-1) if wrong("argmax_returned") else chosen


def _softmax(logits: Tensor) -> Tensor:
    """Turn scores (B, T, V) into probabilities."""
    if wrong("logits_returned"):
        return logits
    if wrong("sigmoid_instead"):
        return torch.sigmoid(logits)
    dim = -1
    if wrong("softmax_over_batch"):
        dim = 0
    elif wrong("softmax_over_positions"):
        dim = 1
    if wrong("naive_softmax"):
        powers = logits.exp()
        probabilities = powers / powers.sum(dim=dim, keepdim=True)
        return probabilities.log() if wrong("log_probabilities") else probabilities
    if wrong("log_probabilities"):
        return torch.log_softmax(logits, dim=dim)
    return torch.softmax(logits, dim=dim)
