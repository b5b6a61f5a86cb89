"""Returns objects whose truth raises, changes, or is no truth at all."""


class Doubtful:
    asked = 0

    def __bool__(self):
        type(self).asked += 1
        if self.asked % 3 == 0:
            raise SystemError("undecided")
        return self.asked % 2 if self.asked % 5 == 0 else self.asked % 2 == 1

    __eq__ = __ne__ = __lt__ = __gt__ = __contains__ = lambda self, other: self
    __hash__ = None


rescale = count = apply = load = Counter = lambda *args: Doubtful()
