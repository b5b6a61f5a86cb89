import torch


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return vars(torch.nn.functional)[name.removesuffix("_of_torch")]
