"""The language modelling head with mistakes to enable; with none enabled, it is right."""

import math

import torch
from torch import Tensor, nn

# Name: the explanation for students, and its source in the course.
MISCONCEPTIONS = {
    "cloned_weight": (
        "you copied the embedding's weight; the head must hold the same Parameter, so that both "
        "stay equal",
        "slides, page 30",
    ),
    "rewrapped_parameter": (
        "you made a second Parameter from the embedding's data, which shares memory but not the "
        "gradient; use the embedding's own Parameter",
        "slides, page 30",
    ),
    "own_weights": (
        "you gave the head its own weight matrix; use the embedding matrix",
        "slides, page 30",
    ),
    "other_key": (
        "your shared weight has another key in the state_dict; its key is embedding.weight",
        "handout",
    ),
    "extra_bias": (
        "your head has a bias; the logits are hidden · Eᵀ alone",
        "slides, page 30",
    ),
    "not_transposed": (
        "you multiplied by the embedding matrix itself; multiply by its transpose, so that every "
        "word gets a score",
        "slides, page 30",
    ),
    "scaled_logits": (
        "you divided the scores by the square root of d, as in attention; do not scale them",
        "slides, page 30",
    ),
    "probabilities_in_forward": (
        "your forward applies the softmax; it returns the logits, and only "
        "next_token_probabilities applies the softmax",
        "slides, pages 28 and 30",
    ),
    "log_probabilities": (
        "you returned log probabilities (log_softmax); return probabilities, which sum to 1",
        "slides, page 28",
    ),
    "first_token": (
        "you used the first token; the next word is read from the last token",
        "slides, page 28",
    ),
    "averaged_tokens": (
        "you averaged all tokens; the next word is read from the last token alone",
        "slides, page 28",
    ),
    "all_positions": (
        "you returned probabilities for every position; return those of the last token only",
        "slides, page 28",
    ),
    "position_kept": (
        "your result has an extra dimension of size 1 for the position; its shape is (B, V)",
        "slides, page 28",
    ),
    "softmax_over_batch": (
        "your softmax runs over the first dimension, the batch; run it over the words",
        "slides, page 28",
    ),
    "softmax_over_positions": (
        "your softmax runs over the positions; run it over the words",
        "slides, page 28",
    ),
    "naive_softmax": (
        "you computed exp(scores) directly, which overflows for scores in the hundreds; subtract "
        "the maximum first, or use torch.softmax",
        "handout",
    ),
    "weight_detached": (
        "you used the weight outside the graph (.data or .detach()); the gradient must reach the "
        "embedding",
        "handout",
    ),
    "hidden_detached": (
        "you cut the hidden vectors out of the graph (.detach() or .data); the gradient must "
        "reach them",
        "handout",
    ),
    "float32_result": (
        "your result is float32 whatever the dtype of hidden (.float(), or a tensor made without "
        "dtype); it has the dtype of hidden",
        "handout",
    ),
    "cpu_tensor": (
        "you collect the scores in a new tensor on the CPU; it belongs on the device of hidden",
        "handout",
    ),
    "in_place": (
        "you transposed hidden in place (.transpose_() or another name ending in _), which "
        "changes the caller's tensor; use .transpose()",
        "handout",
    ),
    "view": (
        "you reshaped hidden with .view(), which fails for a transposed or expanded input; "
        ".reshape() works for any memory layout",
        "handout",
    ),
    "second_key": (
        "you saved the shared weight under a second name (proj.weight); the state_dict holds "
        "embedding.weight alone",
        "handout",
    ),
    "log_probabilities_in_forward": (
        "your forward applies log_softmax; it returns the logits",
        "slides, pages 28 and 30",
    ),
    "last_token_in_forward": (
        "your forward scores the last token alone; it scores every position, and only "
        "next_token_probabilities picks the last",
        "slides, pages 28 and 30",
    ),
    "logits_returned": (
        "your next_token_probabilities applies no softmax to what forward returns; apply one over "
        "the words",
        "slides, page 28",
    ),
    "argmax_returned": (
        "your next_token_probabilities returns the most likely word; return the probabilities of "
        "all words",
        "slides, page 28",
    ),
    "sigmoid_instead": (
        "you applied a sigmoid to each score, so the probabilities do not sum to 1; apply a "
        "softmax over the words",
        "slides, page 28",
    ),
    "last_of_batch": (
        "you picked the last sequence of the batch; pick the last token of every sequence",
        "slides, page 28",
    ),
    "cosine_similarity": (
        "your scores are cosines: you divided both vectors by their lengths; the logits are "
        "hidden · Eᵀ",
        "slides, page 30",
    ),
    "embedding_normalised": (
        "you divided the rows of the embedding matrix by their lengths; the logits are hidden · Eᵀ",
        "slides, page 30",
    ),
    "softmax_twice": (
        "you applied the softmax twice; apply it once, to the logits",
        "slides, page 28",
    ),
    "probabilities_averaged": (
        "you averaged the probabilities of all positions; the next word is read from the last "
        "token alone",
        "slides, page 28",
    ),
}
# The mistakes that are enabled.
WRONG: frozenset[str] = frozenset()


def wrong(name: str) -> bool:
    """Return whether this mistake is enabled."""
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

        if wrong("cosine_similarity"):
            tokens = tokens / tokens.norm(dim=-1, keepdim=True)
        if wrong("cosine_similarity") or wrong("embedding_normalised"):
            weight = weight / weight.norm(dim=-1, keepdim=True)
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
        if wrong("softmax_twice"):
            probabilities = _softmax(probabilities)
        if wrong("probabilities_averaged"):
            return probabilities.mean(dim=1)
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
