"""The names of the operations that an assignment can forbid, and the kernels that do them."""

from __future__ import annotations

# The names are those of assignment.toml. Their order is part of the wire format.
KERNELS = {
    "layer_norm": ("layer_norm", "native_layer_norm"),
    "rms_norm": ("rms_norm", "_fused_rms_norm"),
    "group_norm": ("group_norm", "native_group_norm"),
    "instance_norm": ("instance_norm",),
    "batch_norm": (
        "batch_norm",
        "native_batch_norm",
        "_batch_norm_impl_index",
        "_native_batch_norm_legit",
        "_native_batch_norm_legit.no_stats",
    ),
    "scaled_dot_product_attention": (
        "scaled_dot_product_attention",
        "_scaled_dot_product_attention_math",
        "_scaled_dot_product_flash_attention",
        "_scaled_dot_product_flash_attention_for_cpu",
        "_scaled_dot_product_efficient_attention",
    ),
    "multi_head_attention": ("_native_multi_head_attention",),
    "transformer_encoder_layer": ("_transformer_encoder_layer_fwd",),
}
FORBIDDEN = tuple(KERNELS)
