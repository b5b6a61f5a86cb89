"""Does not call what others extend."""


class Step:
    def __init__(self, name="step"):
        self.name = name
        self.count = 0

    def run(self, text):
        self.count += 1
        return text

    def change(self, text):
        return text

    def describe(self):
        return f"Step({self.name})"

    __repr__ = describe


class Pipeline(Step):
    def __init__(self, *steps):
        super().__init__("pipeline")
        self.steps = list(steps)

    def change(self, text):
        for step in self.steps:
            text = step.change(text)
        return text

    def counts(self):
        return {step.name: step.count for step in self.steps}
