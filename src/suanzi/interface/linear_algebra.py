"""7.2.17, linear algebra, in the standard's form; written by tools/write_names.py."""

from __future__ import annotations

from typing import Any

from suanzi.interface.calling import REQUIRED, Answer, call


def op_matmul(mat1: Any = REQUIRED, mat2: Any = REQUIRED) -> Answer:
    """Return the product of matrices, of vectors, or of batches of matrices.

    Clause 7.2.17.1, Table 133; returns (Status, out).
    """
    return call("matmul", mat1=mat1, mat2=mat2)


def op_dot(vec1: Any = REQUIRED, vec2: Any = REQUIRED) -> Answer:
    """Return the inner product along the last axis of vec1 and the last but one of vec2.

    Clause 7.2.17.2, Table 134; returns (Status, out).
    """
    return call("dot", vec1=vec1, vec2=vec2)


def op_dot_bwd1(out_grad: Any = REQUIRED, vec1: Any = REQUIRED, vec2: Any = REQUIRED) -> Answer:
    """Return the gradient of vec1, the first operand of `dot`, in its shape and dtype.

    Clause 7.2.17.2.4, Table 135; returns (Status, in_grad1).
    """
    return call("dot_bwd1", out_grad=out_grad, vec1=vec1, vec2=vec2)


def op_dot_bwd2(out_grad: Any = REQUIRED, vec1: Any = REQUIRED, vec2: Any = REQUIRED) -> Answer:
    """Return the gradient of vec2, the second operand of `dot`, in its shape and dtype.

    Clause 7.2.17.2.6, Table 136; returns (Status, in_grad2).
    """
    return call("dot_bwd2", out_grad=out_grad, vec1=vec1, vec2=vec2)


def op_lu(mat: Any = REQUIRED) -> Answer:
    """Return mat = P L U: L and U in one matrix, and the row swaps that P stands for.

    Clause 7.2.17.3, Table 137; returns (Status, lu, ipiv).
    """
    return call("lu", mat=mat)


def op_cholesky(upper: Any = REQUIRED, mat: Any = REQUIRED) -> Answer:
    """Return the triangular factor of a positive definite matrix.

    Clause 7.2.17.4, Table 138; returns (Status, out).
    """
    return call("cholesky", upper=upper, mat=mat)


def op_qr(mat: Any = REQUIRED, mode: Any = "reduced") -> Answer:
    """Return mat = Q R, the columns of Q orthonormal and R upper triangular.

    Clause 7.2.17.5, Table 139; returns (Status, Q, R).
    """
    return call("qr", mat=mat, mode=mode)


def op_svd(mat: Any = REQUIRED, format: Any = True) -> Answer:
    """Return mat = U S V^H: the columns of U and V orthonormal, S diagonal, not negative, falling.

    Clause 7.2.17.6, Table 140; returns (Status, U, S, V).
    """
    return call("svd", mat=mat, format=format)


def op_solve(mat: Any = REQUIRED, rhs: Any = REQUIRED, adjoint: Any = REQUIRED) -> Answer:
    """Return the x of mat x = rhs, or of mat^H x = rhs with `adjoint`.

    Clause 7.2.17.7, Table 141; returns (Status, x).
    """
    return call("solve", mat=mat, rhs=rhs, adjoint=adjoint)


def op_lstsq(mat: Any = REQUIRED, rhs: Any = REQUIRED, prec: Any = None) -> Answer:
    """Return the x that makes the 2-norm of rhs - mat x least, and of those the shortest.

    Clause 7.2.17.8, Table 142; returns (Status, x).
    """
    return call("lstsq", mat=mat, rhs=rhs, prec=prec)


def op_inverse(mat: Any = REQUIRED) -> Answer:
    """Return the inverse of a square matrix; one that is singular is refused, as by `solve`.

    Clause 7.2.17.9, Table 143; returns (Status, inv).
    """
    return call("inverse", mat=mat)


def op_eig(mat: Any = REQUIRED) -> Answer:
    """Return the eigenvalues and the eigenvectors, the columns of v: mat v = v w.

    Clause 7.2.17.10, Table 144; returns (Status, w, v).
    """
    return call("eig", mat=mat)


def op_norm(
    input: Any = REQUIRED,
    normtype: Any = "inf",
    axis: Any = (),
    axis_len: Any = None,
    keep_dims: Any = False,
) -> Answer:
    """Return the norms of vectors along one axis, of matrices along two, or that of all elements.

    Clause 7.2.17.11, Table 145; returns (Status, output).
    """
    return call(
        "norm", input=input, normtype=normtype, axis=axis, axis_len=axis_len, keep_dims=keep_dims
    )


def op_linear(x: Any = REQUIRED, weight: Any = REQUIRED, bias: Any = None) -> Answer:
    """Return x W^T + b for inputs along the last axis of x and a weight of shape (out, in).

    Clause 7.2.17.12, Table 146; returns (Status, y).
    """
    return call("linear", x=x, weight=weight, bias=bias)


def op_linear_bwd_in(out_grad: Any = REQUIRED, weight: Any = REQUIRED) -> Answer:
    """Return the gradient of the input of `linear`, in the dtype the arguments are promoted to.

    Clause 7.2.17.12.4, Table 147; returns (Status, in_grad).
    """
    return call("linear_bwd_in", out_grad=out_grad, weight=weight)


def op_linear_bwd_weight(out_grad: Any = REQUIRED, input: Any = REQUIRED) -> Answer:
    """Return the gradient of the weight of `linear`, in the dtype the arguments are promoted to.

    Clause 7.2.17.12.6, Table 148; returns (Status, weight_grad).
    """
    return call("linear_bwd_weight", out_grad=out_grad, input=input)


def op_bilinear(
    x: Any = REQUIRED,
    y: Any = REQUIRED,
    weight: Any = REQUIRED,
    bias: Any = None,
) -> Answer:
    """Return x A_o y^T + b_o for each matrix A_o of the weight, of shape (out, in1, in2).

    Clause 7.2.17.13, Table 149; returns (Status, z).
    """
    return call("bilinear", x=x, y=y, weight=weight, bias=bias)


def op_bilinear_bwd_in1(
    out_grad: Any = REQUIRED,
    y: Any = REQUIRED,
    weight: Any = REQUIRED,
) -> Answer:
    """Return the gradient of x, the first input of `bilinear`.

    Clause 7.2.17.13.4, Table 150; returns (Status, in_grad1).
    """
    return call("bilinear_bwd_in1", out_grad=out_grad, y=y, weight=weight)


def op_bilinear_bwd_in2(
    out_grad: Any = REQUIRED,
    x: Any = REQUIRED,
    weight: Any = REQUIRED,
) -> Answer:
    """Return the gradient of y, the second input of `bilinear`.

    Clause 7.2.17.13.6, Table 151; returns (Status, in_grad2).
    """
    return call("bilinear_bwd_in2", out_grad=out_grad, x=x, weight=weight)


def op_bilinear_bwd_weight(
    out_grad: Any = REQUIRED,
    x: Any = REQUIRED,
    y: Any = REQUIRED,
) -> Answer:
    """Return the gradient of the weight of `bilinear`, in the dtype the arguments are promoted to.

    Clause 7.2.17.13.8, Table 152; returns (Status, weight_grad).
    """
    return call("bilinear_bwd_weight", out_grad=out_grad, x=x, y=y)
