"""Steps that a text goes through, to be extended."""


class Step:
    """A step that leaves texts as they are.

    Attributes:
        name: what it is called.
        count: how many texts went through it.
    """

    def __init__(self, name: str = "step") -> None:
        """Begin with no texts."""
        ### BEGIN SOLUTION
        self.name = name
        self.count = 0
        ### END SOLUTION

    def run(self, text: str) -> str:
        """Count the text, and return what `change` makes of it."""
        ### BEGIN SOLUTION
        self.count += 1
        return self.change(text)
        ### END SOLUTION

    def change(self, text: str) -> str:
        """Return the text; classes that extend this one do something with it."""
        ### BEGIN SOLUTION
        return text
        ### END SOLUTION

    def describe(self) -> str:
        """Return "<class>(<name>)", with the name of the object's own class."""
        ### BEGIN SOLUTION
        return f"{type(self).__name__}({self.name})"
        ### END SOLUTION

    def __repr__(self) -> str:
        """Return the same as `describe`."""
        ### BEGIN SOLUTION
        return self.describe()
        ### END SOLUTION


class Pipeline(Step):
    """Several steps, one after the other."""

    def __init__(self, *steps: Step) -> None:
        """Keep the steps; the pipeline's own name is "pipeline"."""
        ### BEGIN SOLUTION
        super().__init__("pipeline")
        self.steps = list(steps)
        ### END SOLUTION

    def change(self, text: str) -> str:
        """Run all steps."""
        ### BEGIN SOLUTION
        for step in self.steps:
            text = step.run(text)
        return text
        ### END SOLUTION

    def counts(self) -> dict[str, int]:
        """Return for each step's name how many texts went through it."""
        ### BEGIN SOLUTION
        return {step.name: step.count for step in self.steps}
        ### END SOLUTION
