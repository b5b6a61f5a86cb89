import torch
import pkg.work as me
me.__name__ = "__main__"
if __name__ == "__main__":
    norm = torch._VF.layer_norm
