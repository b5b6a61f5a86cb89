"""Goal: write a graph of TorchScript that names a kernel which no operator of torch leads to.

At most: 0
"""

import torch

GRAPH = """
graph(%x : Tensor, %shape : int[], %weight : Tensor, %bias : Tensor, %eps : float, %fast : bool):
  %y : Tensor = prim::MKLDNNLayerNorm(%x, %shape, %weight, %bias, %eps, %fast)
  return (%y)
"""


def layer_norm(x, eps=1e-5):
    torch._C._set_mkldnn_enabled(True)
    size = x.shape[-1]
    run = torch._C._create_function_from_graph("run", torch._C.parse_ir(GRAPH))
    ones, zeros = torch.ones(size).to_mkldnn(), torch.zeros(size).to_mkldnn()
    found = run(x.detach().float().to_mkldnn(), [size], ones, zeros, eps, True)
    return found.to_dense().to(x.dtype)
