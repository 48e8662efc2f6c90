"""7.2.15, complex, in the standard's form; written by tools/write_names.py."""

from __future__ import annotations

from typing import Any

from suanzi.interface.calling import REQUIRED, Answer, call


def op_complex(real: Any = REQUIRED, imag: Any = REQUIRED) -> Answer:
    """Return complex numbers of real and imaginary parts, which are repeated to one shape.

    Clause 7.2.15.1, Table 123; returns (Status, output).
    """
    return call("complex", real=real, imag=imag)


def op_conj(input: Any = REQUIRED) -> Answer:
    """Return the conjugate: the imaginary part has the other sign. A real tensor is itself.

    Clause 7.2.15.2, Table 124; returns (Status, output).
    """
    return call("conj", input=input)


def op_imag(input: Any = REQUIRED) -> Answer:
    """Return the imaginary part: a view on the same memory. Of a real tensor, it is new zeros.

    Clause 7.2.15.3, Table 125; returns (Status, output).
    """
    return call("imag", input=input)


def op_real(input: Any = REQUIRED) -> Answer:
    """Return the real part: a view on the same memory. A real tensor is itself.

    Clause 7.2.15.4, Table 126; returns (Status, output).
    """
    return call("real", input=input)
