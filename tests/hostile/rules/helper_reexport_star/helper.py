import torch
t = torch
