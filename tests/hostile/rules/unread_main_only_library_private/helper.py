import layer_norm as me
for me.__name__ in ["__main__"]:
    pass
