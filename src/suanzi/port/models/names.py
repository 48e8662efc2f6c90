"""What operators of ONNX and OpenVINO are called in PyTorch: the lists of dtypes go by that."""

from __future__ import annotations

_SAME = """
Add Sub Mul Div Pow Exp Log Sqrt Sin Cos Tan Asin Acos Atan Sinh Cosh Tanh Asinh Acosh Atanh Sigmoid
Erf Abs Neg Floor Ceil Round Relu Gelu Mish Elu Selu Softplus Softmax Where Reciprocal Clip
""".split()

ONNX = {name: name.lower() for name in _SAME} | {
    "Max": "maximum", "Min": "minimum", "Equal": "eq", "Less": "lt", "LessOrEqual": "le",
    "Greater": "gt", "GreaterOrEqual": "ge", "And": "logical_and", "Or": "logical_or",
    "Xor": "logical_xor", "Not": "logical_not", "BitwiseAnd": "bitwise_and",
    "BitwiseOr": "bitwise_or", "BitwiseXor": "bitwise_xor", "MatMul": "matmul", "Concat": "cat",
    "LogSoftmax": "log_softmax", "LeakyRelu": "leaky_relu", "HardSwish": "hardswish",
    "Swish": "silu", "ReduceSum": "sum", "ReduceMean": "mean", "ReduceMax": "amax",
    "ReduceMin": "amin", "ReduceLogSumExp": "logsumexp", "CumSum": "cumsum", "IsNaN": "isnan",
    "IsInf": "isinf", "ArgMax": "argmax", "ArgMin": "argmin", "TopK": "topk", "Cast": "to",
    "CastLike": "to", "Trilu": "tril",
}  # fmt: skip
"""Operators of ONNX that take the same tensors in the same places."""

OPENVINO = {
    "Add": "add", "Subtract": "sub", "Multiply": "mul", "Divide": "div", "Power": "pow",
    "FloorMod": "remainder", "Mod": "fmod", "Maximum": "maximum", "Minimum": "minimum",
    "Equal": "eq", "NotEqual": "ne", "Less": "lt", "LessEqual": "le", "Greater": "gt",
    "GreaterEqual": "ge", "LogicalAnd": "logical_and", "LogicalOr": "logical_or",
    "LogicalXor": "logical_xor", "LogicalNot": "logical_not", "BitwiseAnd": "bitwise_and",
    "BitwiseOr": "bitwise_or", "BitwiseXor": "bitwise_xor", "MatMul": "matmul", "Concat": "cat",
    "Select": "where", "Exp": "exp", "Log": "log", "Sqrt": "sqrt", "Sin": "sin", "Cos": "cos",
    "Tan": "tan", "Asin": "asin", "Acos": "acos", "Atan": "atan", "Sinh": "sinh", "Cosh": "cosh",
    "Tanh": "tanh", "Asinh": "asinh", "Acosh": "acosh", "Atanh": "atanh", "Sigmoid": "sigmoid",
    "Erf": "erf", "Negative": "neg", "Abs": "abs", "Floor": "floor", "Ceiling": "ceil",
    "Relu": "relu", "ReLU": "relu", "Gelu": "gelu", "Mish": "mish", "HSwish": "hardswish",
    "Swish": "silu", "SoftPlus": "softplus", "Softmax": "softmax", "SoftMax": "softmax",
    "LogSoftmax": "log_softmax", "ReduceSum": "sum", "ReduceMean": "mean", "ReduceMax": "amax",
    "ReduceMin": "amin", "Convert": "to", "ConvertLike": "to", "IsFinite": "isfinite",
    "IsNaN": "isnan", "IsInf": "isinf", "CumSum": "cumsum",
}  # fmt: skip
"""Operators of OpenVINO that take the same tensors in the same places."""
