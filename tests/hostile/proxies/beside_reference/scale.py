"""Wrong, and comes with a module `reference` that is wrong in the same way."""

from reference import apply, Counter, count, load, rescale  # noqa: F401, I001
