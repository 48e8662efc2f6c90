"""Exports the programs of this folder to ONNX, untrained; needs torch, transformers and onnx.

    python tools/confirming/export_onnx.py FOLDER

Each is exported with and without dynamo; what torch.onnx cannot export is said.
"""

import runpy
import sys
import warnings
from pathlib import Path

import torch

PROGRAMS = Path(__file__).parent / "programs"
WORDS = ("input_ids", "attention_mask")
MODELS = {
    "hf_gpt2": ("model", WORDS), "hf_llama": ("model", WORDS), "hf_bert": ("bert", WORDS),
    "hf_t5": ("model", (*WORDS, "decoder_input_ids")), "hf_conv": ("nets", ("pixel_values",)),
    "convnet": ("net", None),
}  # fmt: skip
"""Of each program, the name of its model and of what that is given."""


class ByPlace(torch.nn.Module):
    """A model of transformers that is given tensors, and gives one."""

    def __init__(self, model, names):
        super().__init__()
        self.model, self.names = model.eval(), names

    def forward(self, *given):
        """Return the first result."""
        more = {"use_cache": False} if hasattr(self.model.config, "use_cache") else {}
        return self.model(**dict(zip(self.names, given, strict=True)), **more)[0]


def exportable(program):
    """Return the model of a program, and what it is given."""
    name, names = MODELS[program]
    found = runpy.run_path(str(PROGRAMS / f"{program}.py"))
    model = found[name]
    if names is None:
        return model.eval(), (found["images"],)
    if names == ("pixel_values",):
        return ByPlace(model[0].to(torch.bfloat16), names), (found["images"].to(torch.bfloat16),)
    ids = torch.randint(0, 128, (2, 16))
    return ByPlace(model, names), (ids, torch.ones_like(ids), ids)[: len(names)]


def main(folder):
    """Export all."""
    warnings.simplefilter("ignore")
    for program in MODELS:
        for dynamo in (True, False):
            kind = "dynamo" if dynamo else "script"
            try:
                model, given = exportable(program)
                path = Path(folder) / f"{program}_{kind}.onnx"
                torch.onnx.export(model, given, str(path), dynamo=dynamo)
                said = path
            except Exception as error:
                said = f"cannot be exported: {str(error).strip().splitlines()[0][:100]}"
            sys.stdout.write(f"{program} {kind}: {said}\n")


if __name__ == "__main__":
    main(sys.argv[1])
