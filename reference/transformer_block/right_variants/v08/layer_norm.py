"""Layer normalisation: see toolbox.py."""

from toolbox import LayerNorm, layer_norm

__all__ = ["LayerNorm", "layer_norm"]
