"""Hidden tests of pipeline."""

import pipeline
import pytest


class Recording(pipeline.Step):
    """Remembers what went through it."""

    def __init__(self):
        pipeline.Step.__init__(self, "recording")
        self.seen = []

    def run(self, text):
        self.seen.append(text)
        return super().run(text)


class Picky(pipeline.Step):
    """Refuses some texts."""

    class Refused(Exception):
        """A text is not wanted."""

    def change(self, text):
        if "x" in text:
            raise self.Refused(text)
        return text


class Twice(pipeline.Pipeline):
    """Runs its steps two times."""

    def change(self, text):
        return super().change(super().change(text))

    @property
    def length(self):
        return len(self.steps)


def test_recording():
    """what a pipeline does reaches the test's object"""
    recording = Recording()
    pipeline.Pipeline(recording, recording).run("tea")
    assert recording.seen == ["tea", "tea"]
    assert recording.count == 2


def test_exceptions_of_a_step():
    """what a step of the test's raises comes out of the pipeline"""
    steps = pipeline.Pipeline(pipeline.Step("first"), Picky("picky"), pipeline.Step("last"))
    with pytest.raises(Picky.Refused):
        steps.run("xyz")
    assert steps.counts() == {"first": 1, "picky": 1, "last": 0}


def test_twice():
    """a pipeline that is extended"""
    twice = Twice(Recording(), pipeline.Step("b"))
    assert twice.length == 2
    assert twice.run("t") == "t"
    assert twice.counts() == {"recording": 2, "b": 2}
    assert isinstance(twice, pipeline.Pipeline) and issubclass(Twice, pipeline.Step)


def test_pipeline_in_a_pipeline():
    """a pipeline is a step, too"""
    inner = Twice(Picky("picky"))
    outer = pipeline.Pipeline(inner)
    assert outer.run("abc") == "abc"
    assert outer.counts() == {"pipeline": 1}
    assert repr(inner) == "Twice(pipeline)"
