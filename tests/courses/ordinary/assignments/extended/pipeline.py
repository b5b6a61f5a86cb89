"""Steps that a text goes through, to be extended."""


class Step:
    """A step that leaves texts as they are.

    Attributes:
        name: what it is called.
        count: how many texts went through it.
    """

    def __init__(self, name: str = "step") -> None:
        """Begin with no texts."""
        # Your code here.
        raise NotImplementedError

    def run(self, text: str) -> str:
        """Count the text, and return what `change` makes of it."""
        # Your code here.
        raise NotImplementedError

    def change(self, text: str) -> str:
        """Return the text; classes that extend this one do something with it."""
        # Your code here.
        raise NotImplementedError

    def describe(self) -> str:
        """Return "<class>(<name>)", with the name of the object's own class."""
        # Your code here.
        raise NotImplementedError

    def __repr__(self) -> str:
        """Return the same as `describe`."""
        # Your code here.
        raise NotImplementedError


class Pipeline(Step):
    """Several steps, one after the other."""

    def __init__(self, *steps: Step) -> None:
        """Keep the steps; the pipeline's own name is "pipeline"."""
        # Your code here.
        raise NotImplementedError

    def change(self, text: str) -> str:
        """Run all steps."""
        # Your code here.
        raise NotImplementedError

    def counts(self) -> dict[str, int]:
        """Return for each step's name how many texts went through it."""
        # Your code here.
        raise NotImplementedError
