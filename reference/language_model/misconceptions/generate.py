"""Writing on with mistakes to enable; with none enabled, it is right."""

import numpy as np
import torch
from torch import Tensor, nn

# Name: the explanation for students, and its source in the course.
MISCONCEPTIONS = {
    "temperature_multiplies": (
        "you multiplied the logits by the temperature; divide them by it",
        "handout",
    ),
    "temperature_ignored": (
        "you ignored the temperature; divide the logits by it",
        "handout",
    ),
    "temperature_on_probabilities": (
        "you divided probabilities by the temperature and applied a second softmax; divide the "
        "logits, before the one softmax",
        "handout",
    ),
    "zero_temperature_divides": (
        "you divided by a temperature of 0, which gives NaN; at 0 the most likely word has the "
        "probability 1",
        "handout",
    ),
    "softmax_over_rows": (
        "your softmax runs over the first dimension; run it over the words, the last dimension",
        "handout",
    ),
    "naive_softmax": (
        "you computed exp(logits) directly, which overflows for large logits; subtract the "
        "maximum first, or use torch.softmax",
        "handout",
    ),
    "logarithms": (
        "you returned log probabilities (log_softmax); return probabilities",
        "handout",
    ),
    "top_k_zeroed": (
        "you set removed logits to 0, which still has a probability; set them to minus infinity",
        "handout",
    ),
    "top_k_not_renormalised": (
        "your probabilities do not sum to 1 after top_k; divide them by the sum of the kept words",
        "handout",
    ),
    "top_k_one_less": (
        "you kept one word too few with top_k; keep k words",
        "handout",
    ),
    "top_k_least": (
        "you kept the least likely words with top_k; keep the most likely ones",
        "handout",
    ),
    "top_k_over_all_rows": (
        "you searched the most likely words in all rows together; search in every row separately",
        "handout",
    ),
    "top_k_beyond_the_words": (
        "your top_k fails if it is greater than the number of words; then keep all words",
        "handout",
    ),
    "top_p_not_renormalised": (
        "your probabilities do not sum to 1 after top_p; divide them by the sum of the kept words",
        "handout",
    ),
    "top_p_stops_short": (
        "you dropped the word with which the sum reaches top_p; keep it, so that the sum is at "
        "least top_p",
        "handout",
    ),
    "top_p_one_more": (
        "you kept one word too many with top_p; stop at the word with which the sum reaches top_p",
        "handout",
    ),
    "top_p_as_threshold": (
        "with a small top_p you kept more words than it takes, with a large one fewer; keep the "
        "most likely words until their sum reaches top_p, no more",
        "handout",
    ),
    "top_p_before_top_k": (
        "you applied top_p before top_k, or did not renormalise in between; apply top_k first, "
        "then top_p to the renormalised probabilities",
        "handout",
    ),
    "top_p_before_temperature": (
        "you chose the words of top_p before applying the temperature; apply the temperature first",
        "handout",
    ),
    "sorted_words": (
        "you returned probabilities in sorted order; return them in the order of the words",
        "handout",
    ),
    "sorted_back_wrongly": (
        "you undid the sorting by indexing with its own order; use scatter, or the argsort of the "
        "order",
        "handout",
    ),
    "any_temperature": (
        "you accept a negative temperature; raise ValueError",
        "handout",
    ),
    "any_top_k": (
        "you accept a top_k below 1; raise ValueError",
        "handout",
    ),
    "any_top_p": (
        "you accept a top_p outside 0 < top_p <= 1; raise ValueError",
        "handout",
    ),
    "float32_result": (
        "you returned float32 for every input; the result has the dtype of the logits",
        "handout",
    ),
    "cpu_tensor": (
        "you made a new tensor on the CPU; it belongs on the device of the logits",
        "handout",
    ),
    "logits_overwritten": (
        "you changed the logits in place (/= or an index assignment); the caller still needs "
        "them, so make a new tensor",
        "handout",
    ),
    "first_position": (
        "you used the logits of the first position; the last position predicts the next word",
        "slides, page 28",
    ),
    "always_the_likeliest": (
        "you took the most likely word at every step; draw a word with its probability",
        "handout",
    ),
    "options_not_passed_on": (
        "you did not pass temperature, top_k and top_p to next_probabilities; pass all three",
        "handout",
    ),
    "one_draw_for_all": (
        "you drew one word for the whole batch; draw a word for every sequence",
        "handout",
    ),
    "seed_in_the_code": (
        "you set the seed in your code, so every text is the same; leave seeding to the caller",
        "handout",
    ),
    "numpy_draws": (
        "you drew with numpy's or Python's generator; use torch's, which torch.manual_seed "
        "controls",
        "handout",
    ),
    "prompt_left_out": (
        "you returned the new tokens alone; return the prompt and the new tokens",
        "handout",
    ),
    "length_of_all": (
        "you used max_new_tokens as the length of the whole text; it is the number of tokens "
        "added to the prompt",
        "handout",
    ),
    "one_token_more": (
        "you added one token too many; add max_new_tokens",
        "handout",
    ),
    "end_ignored": (
        "you continued a sequence after its end token; all its further tokens are end_id",
        "handout",
    ),
    "first_end_stops_all": (
        "you stopped all sequences when one drew the end token; continue the others",
        "handout",
    ),
    "never_stops_early": (
        "you continued after every sequence had ended; stop then",
        "handout",
    ),
    "end_of_the_prompt": (
        "you treated an end token in the prompt as the end; only a drawn end token ends a sequence",
        "handout",
    ),
    "window_ignored": (
        "you gave the model more than max_len tokens; before every call, cut to the last max_len",
        "handout",
    ),
    "first_window": (
        "you gave the model the first max_len tokens; give it the last ones",
        "handout",
    ),
    "window_returned": (
        "you cut the text itself to its last max_len tokens; cut only the model's input, and "
        "return the whole text",
        "handout",
    ),
    "asked_in_training": (
        "you did not switch the model to evaluation mode, so it may drop values; call "
        "model.eval() first",
        "handout",
    ),
    "left_in_evaluation": (
        "you left the model in evaluation mode; restore the mode that it had",
        "handout",
    ),
    "left_in_training": (
        "you always left the model in training mode; store the mode first and restore it",
        "handout",
    ),
    "gradients_recorded": (
        "you called the model while gradients were recorded; use torch.no_grad(), which saves "
        "memory",
        "handout",
    ),
}
# The mistakes that are enabled.
WRONG: frozenset[str] = frozenset()


def wrong(name: str) -> bool:
    """Return whether this mistake is enabled."""
    return name in WRONG


def next_probabilities(
    logits: Tensor,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> Tensor:
    """Turn logits (..., V) into the probabilities to draw the next token from."""
    if temperature < 0 and not wrong("any_temperature"):
        raise ValueError(f"temperature must be 0 or more, not {temperature}")
    if top_k is not None and top_k < 1 and not wrong("any_top_k"):
        raise ValueError(f"top_k must be 1 or more, not {top_k}")
    if top_p is not None and not 0 < top_p <= 1 and not wrong("any_top_p"):
        raise ValueError(f"top_p must be above 0 and at most 1, not {top_p}")
    if wrong("float32_result"):
        logits = logits.float()
    shares = _shares(logits, temperature, top_k, top_p)
    if wrong("cpu_tensor"):
        shares = torch.zeros(shares.shape, dtype=shares.dtype) + shares
    return shares.log() if wrong("logarithms") else shares


def _shares(logits: Tensor, temperature: float, top_k: int | None, top_p: float | None) -> Tensor:
    """Compute the probabilities (..., V)."""
    if temperature == 0 and not wrong("zero_temperature_divides"):
        best = logits.argmax(dim=-1, keepdim=True)  # (..., 1)
        return torch.zeros_like(logits).scatter(-1, best, 1.0)
    given, later = logits, 1.0
    if wrong("temperature_ignored"):
        temperature = 1.0
    elif wrong("temperature_multiplies"):
        temperature = 1 / temperature if temperature else temperature
    elif wrong("temperature_on_probabilities"):
        given, later, temperature = logits, temperature, 1.0
    overwritten = wrong("logits_overwritten")
    given = logits.div_(temperature) if overwritten else given / temperature  # (..., V)
    ordered, order = given.sort(dim=-1, descending=True)  # (..., V)
    kept = torch.ones_like(ordered, dtype=torch.bool)
    if wrong("top_p_before_temperature"):
        kept &= _together(_softmax(ordered * temperature), top_p)
        ordered = ordered.masked_fill(~kept, float("-inf"))
    if wrong("top_p_before_top_k"):
        kept &= _together(_softmax(ordered), top_p)
    if top_k is not None:
        ordered = _likeliest(ordered, kept, top_k)
    elif wrong("top_p_before_top_k"):
        ordered = ordered.masked_fill(~kept, float("-inf"))
    shares = _softmax(ordered)  # (..., V)
    if wrong("temperature_on_probabilities") and later != 1:
        shares = torch.softmax(shares / later, dim=-1)
    if wrong("top_k_not_renormalised") and top_k is not None:
        places = torch.arange(shares.size(-1), device=shares.device)
        shares = _softmax(given.sort(dim=-1, descending=True).values)
        shares = shares.masked_fill(places >= top_k, 0)
    early = wrong("top_p_before_temperature") or wrong("top_p_before_top_k")
    if top_p is not None and not early:
        shares = shares * _together(shares, top_p)
        if not wrong("top_p_not_renormalised"):
            shares = shares / shares.sum(dim=-1, keepdim=True)
    if wrong("sorted_words"):
        return shares
    if wrong("sorted_back_wrongly"):
        return shares.gather(-1, order)
    return torch.zeros_like(shares).scatter(-1, order, shares)


def _softmax(logits: Tensor) -> Tensor:
    """Turn logits into probabilities."""
    dim = 0 if wrong("softmax_over_rows") else -1
    if wrong("naive_softmax"):
        powers = logits.exp()
        return powers / powers.sum(dim=dim, keepdim=True)
    return torch.softmax(logits, dim=dim)


def _likeliest(ordered: Tensor, kept: Tensor, top_k: int) -> Tensor:
    """Take the words out of sorted logits that top_k, and what is not kept, leave out."""
    words = ordered.size(-1)
    if wrong("top_k_beyond_the_words") and top_k > words:
        raise RuntimeError(f"k {top_k} is out of range")
    places = torch.arange(words, device=ordered.device)
    if wrong("top_k_least"):
        out = places < words - top_k
    elif wrong("top_k_one_less"):
        out = places >= max(top_k - 1, 1)
    elif wrong("top_k_over_all_rows"):
        bound = ordered.flatten().topk(min(top_k, ordered.numel())).values[-1]
        out = ordered < bound
    else:
        out = places >= top_k
    out = out | ~kept
    if wrong("top_k_not_renormalised"):
        return ordered
    return ordered.masked_fill(out, 0.0 if wrong("top_k_zeroed") else float("-inf"))


def _together(shares: Tensor, top_p: float | None) -> Tensor:
    """Tell which of the sorted probabilities stay."""
    if top_p is None:
        return torch.ones_like(shares, dtype=torch.bool)
    if wrong("top_p_as_threshold"):
        stay = shares >= top_p
    elif wrong("top_p_stops_short"):
        stay = shares.cumsum(dim=-1) <= top_p
    else:
        stay = shares.cumsum(dim=-1) - shares < top_p
        if wrong("top_p_one_more"):
            stay = torch.cat([torch.ones_like(stay[..., :1]), stay[..., :-1]], dim=-1)
    return stay | (torch.arange(shares.size(-1), device=shares.device) == 0)


def generate(
    model: nn.Module,
    prompt: Tensor,
    max_new_tokens: int,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    end_id: int | None = None,
    max_len: int | None = None,
) -> Tensor:
    """Write on from every prompt (B, T), token by token."""
    was_training = model.training
    if not wrong("asked_in_training"):
        model.eval()
    options = (1.0, None, None)
    if not wrong("options_not_passed_on"):
        options = (temperature, top_k, top_p)
    count = max_new_tokens + int(wrong("one_token_more"))
    if wrong("length_of_all"):
        count = max_new_tokens - prompt.size(1)
    tokens, ended = prompt, torch.zeros(len(prompt), dtype=torch.bool, device=prompt.device)
    if wrong("end_of_the_prompt") and end_id is not None:
        ended = (prompt == end_id).any(dim=1)
    if wrong("seed_in_the_code"):
        torch.manual_seed(0)
    with torch.set_grad_enabled(wrong("gradients_recorded")):
        for _ in range(count):
            seen = tokens  # (B, T)
            if max_len is not None and not wrong("window_ignored"):
                seen = tokens[:, :max_len] if wrong("first_window") else tokens[:, -max_len:]
            if wrong("window_returned"):
                tokens = seen
            logits = model(seen)[:, 0 if wrong("first_position") else -1]  # (B, V)
            drawn = _drawn(next_probabilities(logits.detach(), *options))  # (B,)
            if end_id is not None:
                if not wrong("end_ignored"):
                    drawn = drawn.masked_fill(ended, end_id)
                ended = ended | (drawn == end_id)
            tokens = torch.cat([tokens, drawn[:, None]], dim=1)
            done = ended.any() if wrong("first_end_stops_all") else ended.all()
            if done and not wrong("never_stops_early"):
                break
    if wrong("left_in_training"):
        model.train()
    elif not wrong("left_in_evaluation"):
        model.train(was_training)
    return tokens[:, prompt.size(1) :] if wrong("prompt_left_out") else tokens


def _drawn(shares: Tensor) -> Tensor:
    """Draw a word for every row of probabilities (B, V)."""
    if wrong("always_the_likeliest"):
        return shares.argmax(dim=-1)
    if wrong("logarithms"):
        shares = shares.exp()
    if wrong("one_draw_for_all"):
        return torch.multinomial(shares[0], 1).expand(len(shares))
    if wrong("numpy_draws"):
        rows = shares.double().cpu().numpy()
        points = np.random.random((len(rows), 1))
        drawn = (rows.cumsum(axis=1) < points * rows.sum(axis=1, keepdims=True)).sum(axis=1)
        return torch.from_numpy(drawn).clamp(max=shares.size(-1) - 1)
    return torch.multinomial(shares, 1).squeeze(-1)
