import layer_norm
layer_norm.__name__ = "__main__"
