"""Runs where OpenVINO and PyTorch are installed: converts a call of each operator that it can make.

Prints by operator whether OpenVINO converted it, or which operation it has no rule for. Operators
that none of the argument lists below fits are left out.
"""

import contextlib
import json
import os
import re
import sys
import warnings

import openvino
import torch
from calls import ARGUMENTS, function_of, results

warnings.simplefilter("ignore")


class Call(torch.nn.Module):
    """A model that makes one call."""

    def __init__(self, function, fixed):
        super().__init__()
        self.function, self.fixed = function, fixed

    def forward(self, *tensors):
        """Make it."""
        left = iter(tensors)
        given = [next(left) if isinstance(x, torch.Tensor) else x for x in self.fixed]
        return self.function(*given)


def ask(function):
    """Return "converted", or the operation that has no rule; None where no argument fits."""
    said = None
    for given in ARGUMENTS:
        if results(function, given) is None:
            continue
        if isinstance(given[0], list):
            tensors = tuple(given[0])
            model = Call(lambda *xs: function(list(xs)), tensors)
        else:
            tensors = tuple(x.clone() for x in given if isinstance(x, torch.Tensor))
            model = Call(function, given)
        try:
            openvino.convert_model(model, example_input=tensors)
            return "converted"
        except Exception as error:
            rules = re.findall(r"No conversion rule found for operations?: ([\w:, ]+)", str(error))
            if rules:
                return rules[0].strip()
            said = "failed"
    return said


def main():
    """Ask for the operators that are named."""
    found = {}
    with open(sys.argv[1]) as file:
        names = json.load(file)
    for name in names:
        function = function_of(name)
        if function is not None and not name.startswith("__"):
            with contextlib.suppress(Exception):
                answer = ask(function)
                if answer is not None:
                    found[name] = answer
                    print(name, answer, file=sys.stderr, flush=True)
    return found


with open(os.devnull, "w") as null, contextlib.redirect_stdout(null):
    answers = main()
print(json.dumps({"version": openvino.__version__, "answers": answers}))
