"""Training with mistakes to enable; with none enabled, it is right."""

import copy

import torch
from language_model import next_token_loss
from torch import nn

# Name: the explanation for students, and its source in the course.
MISCONCEPTIONS = {
    "alphabetical": (
        "you numbered the words in the order of the alphabet; number them as they first occur",
        "handout",
    ),
    "from_1": ("you numbered the words from 1; the first one is number 0", "handout"),
    "place_of_the_word": (
        "a word's number is its place in the text in your vocabulary, which leaves out numbers "
        "where words occur again; number the different words alone",
        "handout",
    ),
    "lower_case": (
        "you turned the words into small letters; the words are to be taken as they are",
        "handout",
    ),
    "rate_from_0": (
        "your warm-up begins with a rate of 0; step 0 already has peak / warmup",
        "handout",
    ),
    "rate_beyond_the_peak": (
        "your learning rate goes on growing after the warm-up; it stays at the peak",
        "handout",
    ),
    "rate_decays": (
        "your learning rate falls after the warm-up; it stays at the peak",
        "handout",
    ),
    "warmup_0_divides": (
        "a warm-up of 0 divides by zero; the rate is the peak from the first step on then",
        "handout",
    ),
    "last_batch_dropped": (
        "you left out what does not fill a batch; it makes a smaller last one",
        "handout",
    ),
    "not_shuffled": (
        "your batches come in the order of the sequences; the seed is to draw another order",
        "handout",
    ),
    "seed_ignored": (
        "your order does not hang on the seed; the same seed is to give the same order every time",
        "handout",
    ),
    "drawn_with_repetition": (
        "you drew every row by itself, so that some come twice and others never; draw an order of "
        "all rows (torch.randperm)",
        "handout",
    ),
    "shuffled_in_place": (
        "you brought the caller's sequences into another order; leave them as they are",
        "handout",
    ),
    "gradients_kept": (
        "you did not set the gradients to 0 before a step, so that those of earlier steps are "
        "added to them",
        "handout",
    ),
    "not_clipped": (
        "your gradients are not clipped before the optimizer takes them",
        "handout",
    ),
    "clipped_by_value": (
        "you clipped every number of the gradients by itself; scale all of them by one factor, "
        "so that the norm is what is allowed",
        "handout",
    ),
    "clipped_one_by_one": (
        "you clipped the gradient of every parameter by itself; the norm is that of all of them "
        "together",
        "handout",
    ),
    "always_scaled": (
        "you scaled the gradients to the norm that is allowed even where theirs is smaller; those "
        "stay as they are",
        "handout",
    ),
    "norm_after_clipping": (
        "your log has the norm of the gradients after clipping; the one before is asked for",
        "handout",
    ),
    "plain_descent": (
        "you step by the gradient times the rate (SGD); the steps are AdamW's",
        "handout",
    ),
    "decay_in_the_gradient": (
        "you added weight_decay to the gradients, as Adam does; AdamW takes it off the "
        "parameters themselves",
        "handout",
    ),
    "decay_not_passed": (
        "you did not hand weight_decay on to AdamW, which falls back on its own 0.01",
        "handout",
    ),
    "rate_not_set": (
        "every step is taken with the peak; set the learning rate of the step in the optimizer",
        "handout",
    ),
    "rate_one_late": (
        "your steps are taken with the learning rate of the step before; set it before the "
        "optimizer steps",
        "handout",
    ),
    "rate_one_early": (
        "your steps are numbered from 1 for the learning rate; the first one is number 0",
        "handout",
    ),
    "mode_left_alone": (
        "you trained the model in whatever mode it was in; step switches to training mode",
        "handout",
    ),
    "mode_set_once": (
        "you switched to training mode when the trainer was made, and not again; the model may "
        "have been evaluated since, so switch in every step",
        "handout",
    ),
    "pad_not_passed": (
        "you did not hand pad_id on to the loss, so that padding is learned like a word",
        "handout",
    ),
    "loss_after_the_step": (
        "you computed the loss anew after the step; the one before is asked for",
        "handout",
    ),
    "tensors_in_the_log": (
        "your log or your loss holds tensors; make plain numbers of them with .item()",
        "handout",
    ),
    "every_pass_alike": (
        "every pass of your fit has the same order; the seed grows by 1 from pass to pass",
        "handout",
    ),
    "steps_are_passes": (
        "your fit takes so many passes; `steps` counts the batches",
        "handout",
    ),
    "one_pass": (
        "your fit ends with the first pass; it begins another one until all steps are taken",
        "handout",
    ),
    "state_not_copied": (
        "what your state returns are the tensors and lists that training goes on with; copy them "
        "(copy.deepcopy)",
        "handout",
    ),
    "optimizer_not_saved": (
        "the optimizer's running means begin anew after your load; state and load carry them on",
        "handout",
    ),
    "log_not_saved": (
        "after your load the log is not the one that was saved, and so the number of the next "
        "step is another; state and load carry the log on",
        "handout",
    ),
    "load_shares": (
        "your load goes on with the very tensors and lists of the state, and so changes it; copy "
        "them first",
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
    order = torch.randperm(count, generator=generator)
    if wrong("drawn_with_repetition"):
        order = torch.randint(count, (count,), generator=generator)
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
