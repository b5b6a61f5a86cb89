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
        "_native_batch_norm_legit_functional",
        "_native_batch_norm_legit_no_training",
        "_batch_norm_no_update",
        "_batch_norm_with_update",
        "_batch_norm_with_update_functional",
        # These have kernels of their own, where others' .out only calls what is above.
        "native_batch_norm.out",
        "_native_batch_norm_legit.out",
        "_native_batch_norm_legit.no_stats_out",
        "_batch_norm_with_update.out",
    ),
    "scaled_dot_product_attention": (
        "scaled_dot_product_attention",
        "_scaled_dot_product_attention_math",
        "_scaled_dot_product_flash_attention",
        "_scaled_dot_product_flash_attention_for_cpu",
        "_scaled_dot_product_efficient_attention",
        "_scaled_dot_product_fused_attention_overrideable",
    ),
    "multi_head_attention": ("_native_multi_head_attention",),
    "transformer_encoder_layer": ("_transformer_encoder_layer_fwd",),
}
FORBIDDEN = tuple(KERNELS)

# Whoever may call the one needs the others inside it.
CONSISTS_OF = {
    "instance_norm": ("batch_norm",),
    "multi_head_attention": ("scaled_dot_product_attention",),
    "transformer_encoder_layer": (
        *("layer_norm", "multi_head_attention", "scaled_dot_product_attention"),
    ),
}

# Where torch keeps kernels that run on a CPU. Not each of them has one under every key.
KEYS = ("CPU", "CompositeImplicitAutograd")
FURTHER_KEYS = ("CompositeExplicitAutograd", "MkldnnCPU", "NestedTensorCPU")

# What goes past those kernels, most of it composed in Python, by module and name.
COMPOSED = {
    "layer_norm": (
        ("torch._refs", "_normalize"),
        # The static runtime brings kernels of its own.
        ("torch._C", "_jit_to_static_module"),
        ("torch._C", "_fuse_to_static_module"),
    ),
    "rms_norm": (
        ("torch._decomp.decompositions", "_fused_rms_norm"),
        # With a window as wide as the vector it is the same.
        ("torch.nn.functional", "local_response_norm"),
        ("torch.nn.modules._functions", "CrossMapLRN2d.forward"),
    ),
    "batch_norm": (
        ("torch._decomp.decompositions", "native_batch_norm_helper"),
        ("torch._decomp.decompositions", "_batch_norm_no_update"),
    ),
    "scaled_dot_product_attention": (
        ("torch._higher_order_ops.flex_attention", "math_attention"),
        ("torch.onnx.ops._impl", "attention_23"),
    ),
    "multi_head_attention": (
        # The kernel is called without need_weights only.
        ("torch.nn.functional", "multi_head_attention_forward"),
        ("torch.ao.nn.quantizable.modules.activation", "MultiheadAttention._forward_impl"),
    ),
    "transformer_encoder_layer": (
        # The kernel is the fast way alone.
        ("torch.nn.modules.transformer", "TransformerEncoderLayer.forward"),
        ("torch.nn.modules.transformer", "TransformerDecoderLayer.forward"),
    ),
}
