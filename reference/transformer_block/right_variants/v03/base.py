"""Base classes and mixins of all components."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator

from torch import Tensor, nn


class WithLinears(nn.Module):
    """Mixin: creates linear layers by name and applies them by name."""

    def add_linears(self, sizes: dict[str, tuple[int, int]], bias: bool) -> None:
        """Register one nn.Linear an entry, under its name."""
        for name, (features_in, features_out) in sizes.items():
            self.add_module(name, nn.Linear(features_in, features_out, bias=bias))

    def apply_linears(self, x: Tensor, *names: str) -> Iterator[Tensor]:
        """Give the result of every named layer for the same x."""
        yield from (self.get_submodule(name)(x) for name in names)


class WithChoice:
    """Mixin: turns the name of an option into an object, by the options of the class."""

    @classmethod
    def choose(cls, options: dict[str, Callable], name: str) -> Callable:
        """Raise ValueError for an unknown name."""
        try:
            return options[name]
        except KeyError:
            raise ValueError(f"{cls.__name__}: {name!r} is not in {sorted(options)}") from None


class Pipeline(nn.Module, ABC):
    """Template method: forward runs through the stages that the subclass names."""

    @property
    @abstractmethod
    def stages(self) -> tuple[Callable[[Tensor], Tensor], ...]:
        """All stages in their order."""

    def forward(self, x: Tensor) -> Tensor:
        """Send x through all stages."""
        for stage in self.stages:
            x = stage(x)
        return x
