"""Public tests of pipeline."""

from pipeline import Pipeline, Step


class Upper(Step):
    """A step of the test's."""

    def change(self, text):
        return super().change(text).upper()


class Suffix(Step):
    """A step with an attribute of its own."""

    def __init__(self, suffix):
        super().__init__(name=f"suffix {suffix}")
        self.suffix = suffix

    def change(self, text):
        return text + self.suffix


def test_step():
    """a step leaves texts as they are, and counts them"""
    step = Step()
    assert step.run("a") + step.run("b") == "ab"
    assert step.count == 2
    assert step.name == "step"


def test_own_step():
    """run calls the method of the class that extends Step"""
    step = Upper("loud")
    assert isinstance(step, Step)
    assert step.run("tea") == "TEA"
    assert step.count == 1 and step.name == "loud"


def test_own_attributes():
    step = Suffix("!")
    assert step.run("tea") == "tea!"
    assert step.suffix == "!"
    assert step.name == "suffix !"
    step.suffix = "?"
    assert step.run("tea") == "tea?"
    assert step.count == 2


def test_pipeline():
    """the student's pipeline runs the test's steps"""
    pipeline = Pipeline(Upper("loud"), Suffix("!"), Step("nothing"))
    assert pipeline.run("tea") == "TEA!"
    assert pipeline.counts() == {"loud": 1, "suffix !": 1, "nothing": 1}
    assert pipeline.count == 1


def test_describe():
    """the name of the class is that of the object's own class"""
    assert Upper("x").describe() == "Upper(x)"
    assert Step("x").describe() == "Step(x)"
