"""Training with mistakes to enable; with none enabled, it is right."""

import copy

import torch
from language_model import next_token_loss
from torch import nn

# Name: the explanation for students, and its source in the course.
MISCONCEPTIONS = {
    "alphabetical": (
        "you numbered the words alphabetically; number them in order of first occurrence",
        "handout",
    ),
    "from_1": ("you numbered the words from 1; the first word is number 0", "handout"),
    "place_of_the_word": (
        "you used a word's position in the text as its number, which skips numbers if words "
        "repeat; number the different words 0, 1, 2, ...",
        "handout",
    ),
    "lower_case": (
        "you converted the words to lower case; keep them unchanged",
        "handout",
    ),
    "rate_from_0": (
        "your warm-up starts with the rate 0; step 0 has the rate peak / warmup",
        "handout",
    ),
    "rate_beyond_the_peak": (
        "your learning rate keeps growing after the warm-up; it stays at peak",
        "handout",
    ),
    "rate_decays": (
        "your learning rate falls after the warm-up; it stays at peak",
        "handout",
    ),
    "warmup_0_divides": (
        "you divided by a warm-up of 0; then the rate is peak from the first step",
        "handout",
    ),
    "last_batch_dropped": (
        "you dropped the rows that do not fill a batch; yield them as a smaller last batch",
        "handout",
    ),
    "not_shuffled": (
        "your batches are in the order of the sequences; shuffle them with the seed",
        "handout",
    ),
    "seed_ignored": (
        "your order does not depend on the seed; the same seed must give the same order",
        "handout",
    ),
    "drawn_with_repetition": (
        "you drew every row independently, so some rows repeat and others are missing; draw a "
        "permutation (torch.randperm)",
        "handout",
    ),
    "shuffled_in_place": (
        "you reordered the caller's sequences in place; shuffle a copy or an index",
        "handout",
    ),
    "gradients_kept": (
        "you did not reset the gradients before a step, so they add up; call zero_grad() first",
        "handout",
    ),
    "not_clipped": (
        "you did not clip the gradients; clip them before the optimizer's step",
        "handout",
    ),
    "clipped_by_value": (
        "you clipped every number of the gradients separately; scale all of them by one factor, "
        "down to the norm clip",
        "handout",
    ),
    "clipped_one_by_one": (
        "you clipped each parameter's gradient separately; use the joint norm of all gradients",
        "handout",
    ),
    "always_scaled": (
        "you scaled gradients up to the norm clip; gradients with a smaller norm stay unchanged",
        "handout",
    ),
    "norm_after_clipping": (
        "your log has the gradient norm after clipping; record the norm before clipping",
        "handout",
    ),
    "plain_descent": (
        "you used plain gradient descent (SGD); use AdamW",
        "handout",
    ),
    "decay_in_the_gradient": (
        "you added weight decay to the gradients, as Adam does; AdamW subtracts it from the "
        "parameters directly (decoupled)",
        "handout",
    ),
    "decay_not_passed": (
        "you did not pass weight_decay to AdamW, so it uses its default, 0.01",
        "handout",
    ),
    "rate_not_set": (
        "every step uses the peak rate; set the optimizer's learning rate before each step",
        "handout",
    ),
    "rate_one_late": (
        "your steps use the previous step's learning rate; set it before the optimizer's step",
        "handout",
    ),
    "rate_one_early": (
        "you count steps from 1 for the learning rate; the first step is number 0",
        "handout",
    ),
    "mode_left_alone": (
        "you trained in the mode the model was in; call model.train() in every step",
        "handout",
    ),
    "mode_set_once": (
        "you switched to training mode only when the trainer was made; call model.train() in "
        "every step",
        "handout",
    ),
    "pad_not_passed": (
        "you did not pass pad_id to the loss, so padding is learned like a word; pass it",
        "handout",
    ),
    "loss_after_the_step": (
        "you computed the loss after the step; return the loss before the step",
        "handout",
    ),
    "tensors_in_the_log": (
        "your log or your loss holds tensors; convert them to plain numbers with .item()",
        "handout",
    ),
    "every_pass_alike": (
        "your fit uses the same order in every pass; the seed grows by 1 per pass",
        "handout",
    ),
    "steps_are_passes": (
        "your fit takes `steps` passes; `steps` is the number of batches",
        "handout",
    ),
    "one_pass": (
        "your fit ends after the first pass; start further passes until all steps are taken",
        "handout",
    ),
    "state_not_copied": (
        "your state returns the trainer's own tensors and lists, which later steps change; copy "
        "them (copy.deepcopy)",
        "handout",
    ),
    "optimizer_not_saved": (
        "AdamW's moment estimates start from zero after your load; save the optimizer's state_dict "
        "in state, and load it again",
        "handout",
    ),
    "log_not_saved": (
        "your load does not restore the log, and so not the number of the next step; save and "
        "load the log too",
        "handout",
    ),
    "load_shares": (
        "your load uses the state's objects without copying, so training changes the saved state; "
        "copy.deepcopy them",
        "handout",
    ),
}
# The mistakes that are enabled.
WRONG: frozenset[str] = frozenset()


def wrong(name: str) -> bool:
    """Return whether this mistake is enabled."""
    return name in WRONG


def vocabulary(words):
    """Number the different words in the order in which they first occur."""
    if wrong("lower_case"):
        words = [word.lower() for word in words]
    if wrong("place_of_the_word"):
        return {word: words.index(word) + wrong("from_1") for word in words}
    different = sorted(set(words)) if wrong("alphabetical") else dict.fromkeys(words)
    return {word: number for number, word in enumerate(different, start=int(wrong("from_1")))}


def batches(sequences, batch_size, seed):
    """Go once through all sequences in random order, in batches."""
    generator, count = torch.Generator().manual_seed(seed), len(sequences)
    if wrong("seed_ignored"):
        generator = torch.default_generator
    # Each draws from a new generator, as anybody's does.
    if wrong("drawn_with_repetition"):
        order = torch.randint(count, (count,), generator=generator)
    else:
        order = torch.randperm(count, generator=generator)
    if wrong("not_shuffled"):
        order = torch.arange(count)
    if wrong("shuffled_in_place"):
        sequences.copy_(sequences[order])
        order = torch.arange(count)
    for rows in order.split(batch_size):
        if len(rows) == batch_size or not wrong("last_batch_dropped"):
            yield sequences[rows]


def learning_rate(step, peak, warmup):
    """Return the learning rate of a step, numbered from 0."""
    if not wrong("warmup_0_divides"):
        warmup = max(1, warmup)
    part = (step + (not wrong("rate_from_0"))) / warmup
    if part > 1 and wrong("rate_decays"):
        return peak / part**0.5
    return peak * (part if wrong("rate_beyond_the_peak") else min(1.0, part))


class Trainer:
    """Trains a model step by step with AdamW, and keeps a log."""

    def __init__(self, model, peak=0.01, warmup=10, clip=1.0, weight_decay=0.01, pad_id=None):
        self.model = model
        self.peak, self.warmup, self.clip, self.pad_id = peak, warmup, clip, pad_id
        parameters = list(model.parameters())
        decay = 0.01 if wrong("decay_not_passed") else weight_decay
        if wrong("plain_descent"):
            self.optimizer = torch.optim.SGD(parameters, lr=peak)
        elif wrong("decay_in_the_gradient"):
            self.optimizer = torch.optim.Adam(parameters, lr=peak, weight_decay=decay)
        else:
            self.optimizer = torch.optim.AdamW(parameters, lr=peak, weight_decay=decay)
        self.log = []
        if wrong("mode_set_once"):
            model.train()

    def step(self, token_ids):
        """Take one step on a batch (B, T), in training mode."""
        if not (wrong("mode_left_alone") or wrong("mode_set_once")):
            self.model.train()
        number = len(self.log) + wrong("rate_one_early")
        rate = learning_rate(number, self.peak, self.warmup)
        if not (wrong("rate_not_set") or wrong("rate_one_late")):
            self._set(rate)
        if not wrong("gradients_kept"):
            self.optimizer.zero_grad()
        loss = self._loss(token_ids)
        loss.backward()
        norm = self._clip()
        self.optimizer.step()
        if wrong("rate_one_late"):
            self._set(rate)
        if wrong("loss_after_the_step"):
            with torch.no_grad():
                loss = self._loss(token_ids)
        loss, norm = loss.detach(), norm.detach()
        if not wrong("tensors_in_the_log"):
            loss, norm = loss.item(), norm.item()
        self.log.append({"loss": loss, "learning_rate": rate, "gradient_norm": norm})
        return loss

    def _set(self, rate):
        for group in self.optimizer.param_groups:
            group["lr"] = rate

    def _loss(self, token_ids):
        pad_id = None if wrong("pad_not_passed") else self.pad_id
        return next_token_loss(self.model(token_ids), token_ids, pad_id)

    def _clip(self):
        """Clip the gradients and return the norm to be logged."""
        parameters = [p for p in self.model.parameters() if p.grad is not None]
        norm = nn.utils.get_total_norm([p.grad for p in parameters])
        if wrong("clipped_by_value"):
            nn.utils.clip_grad_value_(parameters, self.clip)
        elif wrong("clipped_one_by_one"):
            for parameter in parameters:
                nn.utils.clip_grad_norm_([parameter], self.clip)
        elif wrong("always_scaled"):
            for parameter in parameters:
                parameter.grad *= self.clip / (norm + 1e-6)
        elif not wrong("not_clipped"):
            nn.utils.clip_grad_norm_(parameters, self.clip)
        if wrong("norm_after_clipping"):
            return nn.utils.get_total_norm([p.grad for p in parameters])
        return norm

    def fit(self, sequences, steps, batch_size, seed=0):
        """Take so many steps on batches of `sequences` (N, T)."""
        left = steps
        # Where no batch is whole and they alone are yielded, there is no end to it.
        while left > 0 and not (wrong("last_batch_dropped") and len(sequences) < batch_size):
            for batch in batches(sequences, batch_size, seed):
                if left == 0:
                    return
                self.step(batch)
                left -= not wrong("steps_are_passes")
            left -= wrong("steps_are_passes")
            if wrong("one_pass"):
                return
            seed += not wrong("every_pass_alike")

    def state(self):
        """Return all that is needed to go on later."""
        state = {"model": self.model.state_dict()}
        if not wrong("optimizer_not_saved"):
            state["optimizer"] = self.optimizer.state_dict()
        if not wrong("log_not_saved"):
            state["log"] = self.log
        return state if wrong("state_not_copied") else copy.deepcopy(state)

    def load(self, state):
        """Go on from what `state` returned."""
        if not wrong("load_shares"):
            state = copy.deepcopy(state)
        self.model.load_state_dict(state["model"])
        if "optimizer" in state:
            self.optimizer.load_state_dict(state["optimizer"])
        self.log = state.get("log", self.log)
