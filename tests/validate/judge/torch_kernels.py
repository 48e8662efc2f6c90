"""PyTorch's own kernels by the names of operators, for the judge; PyTorch's Python runs it."""

import torch
import torch.nn.functional as F


def softmax(x):
    return F.softmax(x, -1)


def log_softmax(x):
    return F.log_softmax(x, -1)


def logsumexp(x):
    return torch.logsumexp(x, -1)


def layer_norm(x, weight, bias):
    return F.layer_norm(x, x.shape[-1:], weight, bias)


def rms_norm(x, weight):
    return F.rms_norm(x, x.shape[-1:], weight, 1e-5)


def group_norm(x, num_groups, weight=None, bias=None):
    return F.group_norm(x, num_groups, weight, bias)


def relu(x):
    return F.relu(x)


def relu6(x):
    return F.relu6(x)


def leaky_relu(x):
    return F.leaky_relu(x)


def elu(x):
    return F.elu(x)


def selu(x):
    return F.selu(x)


def celu(x):
    return F.celu(x)


def gelu(x):
    return F.gelu(x)


def silu(x):
    return F.silu(x)


def sigmoid(x):
    return torch.sigmoid(x)


def log_sigmoid(x):
    return F.logsigmoid(x)


def softplus(x):
    return F.softplus(x)


def softsign(x):
    return F.softsign(x)


def mish(x):
    return F.mish(x)


def hardswish(x):
    return F.hardswish(x)


def hardsigmoid(x):
    return F.hardsigmoid(x)


def hardtanh(x):
    return F.hardtanh(x)


def glu(x):
    return F.glu(x)


def erf(x):
    return torch.erf(x)


def erfc(x):
    return torch.erfc(x)


def linear(x, weight, bias=None):
    return F.linear(x, weight, bias)


def scaled_dot_product_attention(q, k, v):
    return F.scaled_dot_product_attention(q, k, v)


def conv2d(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    return F.conv2d(x, weight, bias, stride, padding, dilation, groups)


def mse_loss(x, target):
    return F.mse_loss(x, target)


def l1_loss(x, target):
    return F.l1_loss(x, target)


def huber_loss(x, target):
    return F.huber_loss(x, target)


def bce_with_logits(x, target):
    return F.binary_cross_entropy_with_logits(x, target)


def cross_entropy(logits, target):
    return F.cross_entropy(logits, target)


def max_pool2d(x, kernel_size, stride=None, padding=0, dilation=1):
    return F.max_pool2d(x, kernel_size, stride, padding, dilation)


def avg_pool2d(x, kernel_size, stride=None, padding=0):
    return F.avg_pool2d(x, kernel_size, stride, padding)


def normalize(x):
    return F.normalize(x)


def cosine_similarity(x1, x2):
    return F.cosine_similarity(x1, x2)
