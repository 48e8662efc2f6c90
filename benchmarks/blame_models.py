"""Runs public models with random weights under `sz.blame`, and writes what is found as JSON.

Forward and one training step, in float32, and in bfloat16 and float16 with autocast, on the CPU or
on another device. Needs torch, and transformers, diffusers, torchvision, timm, peft, e3nn and
gpytorch for the models of each; small configurations, so that all of it takes minutes:

    python benchmarks/blame_models.py results.json --device cpu --only bert,resnet
    python benchmarks/blame_models.py results.json --device cuda --kernels flag_gems --only llama

Several processes share a device: `--part 3/8` runs every eighth model and dtype, and
`--merge results.json part-*.json` puts their files together. `benchmarks/blame_kernels.py` judges
the operators of other kernels one by one.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import time
from collections.abc import Callable
from importlib import metadata
from typing import Any

import torch
from torch.nn import functional as F

from suanzi.validate.blame import blame
from suanzi.validate.blame.report import Report

Loss = Callable[[], torch.Tensor]
Made = tuple[torch.nn.Module, Callable[[torch.nn.Module, str], torch.Tensor]]


def language(name: str, **more: Any) -> Callable[[], Made]:
    """Return a language model of transformers."""

    def make() -> Made:
        import transformers

        config = getattr(transformers, f"{name}Config")(**more)
        head = next(
            getattr(transformers, f"{name}{end}")
            for end in ("ForCausalLM", "LMHeadModel", "ForMaskedLM", "ForConditionalGeneration")
            if hasattr(transformers, f"{name}{end}")
        )
        model = head(config)

        def loss(model: Any, device: str) -> torch.Tensor:
            tokens = torch.randint(3, 90, (2, 19), device=device)
            return model(input_ids=tokens, labels=tokens).loss

        return model, loss

    return make


def vision(name: str, **more: Any) -> Callable[[], Made]:
    """Return an image model of transformers."""

    def make() -> Made:
        import transformers

        config = getattr(transformers, f"{name}Config")(**more)
        model = getattr(transformers, f"{name}ForImageClassification")(config)

        def loss(model: Any, device: str) -> torch.Tensor:
            x = torch.randn(2, 3, 32, 32, device=device)
            return model(pixel_values=x, labels=torch.tensor([0, 1], device=device)).loss

        return model, loss

    return make


def unet() -> Made:
    """A UNet of diffusers."""
    import diffusers

    model = diffusers.UNet2DConditionModel(
        sample_size=16, in_channels=4, out_channels=4, layers_per_block=1,
        block_out_channels=(32, 64), down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
        up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"), cross_attention_dim=16,
        attention_head_dim=8, norm_num_groups=8,
    )  # fmt: skip

    def loss(model: Any, device: str) -> torch.Tensor:
        x, text = torch.randn(2, 4, 16, 16, device=device), torch.randn(2, 7, 16, device=device)
        made = model(x, torch.tensor([3, 40], device=device), text).sample
        return F.mse_loss(made.float(), torch.randn(2, 4, 16, 16, device=device))

    return model, loss


def autoencoder() -> Made:
    """An autoencoder of diffusers."""
    import diffusers

    model = diffusers.AutoencoderKL(
        block_out_channels=(16, 32), down_block_types=("DownEncoderBlock2D",) * 2,
        up_block_types=("UpDecoderBlock2D",) * 2, norm_num_groups=8, sample_size=32,
    )  # fmt: skip

    def loss(model: Any, device: str) -> torch.Tensor:
        x = torch.randn(1, 3, 32, 32, device=device)
        return F.mse_loss(model(x).sample.float(), x)

    return model, loss


def images(library: str, name: str, size: int = 64, **more: Any) -> Callable[[], Made]:
    """Return an image model of torchvision or timm, without weights."""

    def make() -> Made:
        if library == "timm":
            import timm

            model = timm.create_model(name, num_classes=10, **more)
        else:
            import torchvision

            model = torchvision.models.get_model(name, num_classes=10, **more)

        def loss(model: Any, device: str) -> torch.Tensor:
            x = torch.randn(2, 3, size, size, device=device)
            return F.cross_entropy(model(x), torch.tensor([0, 1], device=device))

        return model, loss

    return make


def lora() -> Made:
    """Llama with adapters of low rank, of peft."""
    import peft

    model, loss = MODELS["llama"]()
    config = peft.LoraConfig(r=4, target_modules=["q_proj", "v_proj"], lora_dropout=0.1)
    return peft.get_peft_model(model, config), loss


def equivariant() -> Made:
    """A tensor product of e3nn."""
    from e3nn import o3

    model = o3.FullyConnectedTensorProduct("4x0e + 2x1o", "0e + 1o", "3x0e + 2x1o")

    def loss(model: Any, device: str) -> torch.Tensor:
        return (
            model(torch.randn(9, 10, device=device), torch.randn(9, 4, device=device))
            .square()
            .mean()
        )

    return model, loss


def gaussian_process() -> Made:
    """The likelihood of a Gaussian process of gpytorch."""
    import gpytorch

    class Process(gpytorch.models.ExactGP):  # type: ignore[misc]
        def __init__(self, x: Any, y: Any, likelihood: Any) -> None:
            super().__init__(x, y, likelihood)
            self.mean_module = gpytorch.means.ConstantMean()
            self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

        def forward(self, x: Any) -> Any:
            return gpytorch.distributions.MultivariateNormal(
                self.mean_module(x), self.covar_module(x)
            )

    x = torch.linspace(0, 1, 40)
    model = Process(x, torch.sin(6 * x), gpytorch.likelihoods.GaussianLikelihood())

    def loss(model: Any, device: str) -> torch.Tensor:
        x, y = model.train_inputs[0].to(device), model.train_targets.to(device)
        model.set_train_data(x, y, strict=False)
        likelihood = gpytorch.mlls.ExactMarginalLogLikelihood(model.likelihood, model)
        return -likelihood(model(x), y)

    return model, loss


SMALL = {
    "vocab_size": 99, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
    "intermediate_size": 64, "max_position_embeddings": 64,
}  # fmt: skip
ENDS: dict[str, Any] = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
MODELS: dict[str, Callable[[], Made]] = {
    "bert": language("Bert", **SMALL),
    "roberta": language("Roberta", **SMALL),
    "distilbert": language("DistilBert", vocab_size=99, dim=32, n_layers=2, n_heads=4,
                           hidden_dim=64, max_position_embeddings=64),
    "albert": language("Albert", **SMALL, embedding_size=16),
    "gpt2": language("GPT2", vocab_size=99, n_embd=32, n_layer=2, n_head=4, **ENDS),
    "gpt_neox": language("GPTNeoX", **SMALL, **ENDS),
    "opt": language("OPT", vocab_size=99, hidden_size=32, num_hidden_layers=2, ffn_dim=64,
                    num_attention_heads=4, word_embed_proj_dim=32, max_position_embeddings=64,
                    **ENDS),
    "bloom": language("Bloom", vocab_size=99, hidden_size=32, n_layer=2, n_head=4, **ENDS),
    "llama": language("Llama", **SMALL, num_key_value_heads=2, **ENDS),
    "mistral": language("Mistral", **SMALL, num_key_value_heads=2, **ENDS),
    "qwen2": language("Qwen2", **SMALL, num_key_value_heads=2, **ENDS),
    "gemma": language("Gemma", **SMALL, num_key_value_heads=2, head_dim=8, **ENDS),
    "phi": language("Phi", **SMALL, **ENDS),
    "t5": language("T5", vocab_size=99, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4,
                   decoder_start_token_id=0, **ENDS),
    "vit": vision("ViT", hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                  intermediate_size=64, image_size=32, patch_size=8),
    "resnet": vision("ResNet", embedding_size=16, hidden_sizes=[16, 32], depths=[1, 1]),
    "convnext": vision("ConvNext", num_channels=3, hidden_sizes=[16, 32], depths=[1, 1],
                       num_stages=2, patch_size=2),
    "regnet": vision("RegNet", embedding_size=16, hidden_sizes=[16, 32], depths=[1, 1],
                     groups_width=8),
    "mobilenetv2": vision("MobileNetV2", depth_multiplier=0.1, finegrained_output=False),
    "swin": vision("Swin", image_size=32, patch_size=2, embed_dim=16, depths=[1, 1],
                   num_heads=[2, 4], window_size=4),
    "segformer": vision("Segformer", num_encoder_blocks=2, depths=[1, 1], sr_ratios=[2, 1],
                        hidden_sizes=[16, 32], patch_sizes=[7, 3], strides=[4, 2],
                        num_attention_heads=[1, 2], mlp_ratios=[2, 2]),
    "unet": unet,
    "autoencoder": autoencoder,
    "tv_resnet18": images("torchvision", "resnet18"),
    "tv_mobilenet_v3": images("torchvision", "mobilenet_v3_small"),
    "tv_efficientnet": images("torchvision", "efficientnet_b0", 32),
    "tv_shufflenet": images("torchvision", "shufflenet_v2_x0_5"),
    "tv_squeezenet": images("torchvision", "squeezenet1_1"),
    "timm_deit": images("timm", "deit_tiny_patch16_224", img_size=64, depth=2),
    "timm_mixer": images("timm", "mixer_s32_224", img_size=64),
    "timm_convnextv2": images("timm", "convnextv2_atto"),
    "lora": lora,
    "e3nn": equivariant,
    "gpytorch": gaussian_process,
}  # fmt: skip


def step(model: torch.nn.Module, loss: Any, device: str, dtype: str) -> float:
    """Make one training step, its update with both kinds of kernels, and return its time."""
    start = time.perf_counter()
    kind = {"bf16": torch.bfloat16, "f16": torch.float16}.get(dtype)
    with torch.autocast(device, dtype=kind or torch.bfloat16, enabled=kind is not None):
        found = loss(model, device)
    found.backward()
    for how in ({"foreach": True}, {"fused": True}):
        torch.optim.AdamW(model.parameters(), 1e-3, **how).step()
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - start


def measure(
    name: str, dtype: str, device: str, overheads: list[float], save: str | None
) -> dict[str, Any]:
    """Return what is found of a model in a dtype, and the time with and without."""

    def fresh() -> Made:
        torch.manual_seed(0)
        model, loss = MODELS[name]()
        return model.to(device).train(), loss

    model, loss = fresh()
    plain = None
    if save is None:  # where wrong calls are saved, the first step may be the last
        step(model, loss, device, dtype)
        plain = step(model, loss, device, dtype)
    model, loss = fresh()  # steps with wrong operators may have made weights that are no numbers
    path = None if save is None else os.path.join(save, f"{name}-{dtype}.safetensors")
    found: dict[str, Any] = {"model": name, "dtype": dtype, "plain_s": plain}
    try:
        with blame(overhead=None, save=path) as report:
            found["all_calls_s"] = step(model, loss, device, dtype)
    except Exception as error:  # as where a kernel wrote to memory that is not its own
        return {**found, "error": said(error), **kept(report)}
    for overhead in overheads if plain else ():
        with blame(overhead=overhead) as sampled:
            seconds = [step(model, loss, device, dtype) for _ in range(4)]
        found[f"overhead_{overhead:g}"] = {
            "seconds": sum(seconds), "times": sum(seconds) / (4 * plain),
            "judged": sampled.judged, "calls": sampled.calls,
        }  # fmt: skip
    return {**found, **kept(report)}


def said(error: Exception) -> str:
    """Return an error as one line."""
    words = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {words[0][:200]}"


def kept(report: Report) -> dict[str, Any]:
    """Return what a file keeps of a report."""
    data = report.to_dict()
    keys = ("answer", "calls", "judged", "findings", "no_truth", "random", "not_judged", "notes")
    return {key: data[key] for key in keys}


def versions() -> dict[str, str]:
    """Return the versions of the libraries that the models are of."""
    found = {}
    for name in ("transformers", "diffusers", "torchvision", "timm", "peft", "e3nn", "gpytorch",
                 "triton"):  # fmt: skip
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def head(device: str, kernels: str | None) -> dict[str, Any]:
    """Return what a file says of the machine; have other kernels compute, where they are given."""
    found: dict[str, Any] = {
        "torch": torch.__version__, "device": device, "machine": platform.machine(),
        "threads": torch.get_num_threads(), "libraries": versions(), "runs": [],
    }  # fmt: skip
    if device != "cpu":
        found["name"] = torch.get_device_module(device).get_device_name()
    if kernels == "flag_gems":
        found["kernels"] = flag_gems()
    elif kernels == "liger":
        from liger_kernel import transformers as liger

        liger.apply_liger_kernel_to_llama()
        liger.apply_liger_kernel_to_qwen2()
        found["kernels"] = f"liger_kernel {metadata.version('liger_kernel')}"
    return found


LEFT_OUT = [
    "_to_copy", "to_copy", "copy_", "index", "argmax", "isfinite", "isnan", "nonzero", "zeros",
    "zeros_like", "ones", "ones_like", "full", "full_like", "fill_scalar", "fill_tensor",
    "fill_scalar_", "fill_tensor_", "zero_", "arange", "arange_start", "rand", "randn",
    "rand_like", "randn_like", "normal_", "uniform_", "new_full", "resolve_neg", "resolve_conj",
]  # fmt: skip
"""FlagGems' functions for what blame itself calls, and for allocations."""


def flag_gems() -> str:
    """Switch FlagGems on, with the first of the configurations of each kernel: tuning takes long.

    What blame itself calls stays PyTorch's.
    """
    from triton.runtime.autotuner import Autotuner

    original = Autotuner.__init__

    def first(self: Any, fn: Any, names: Any, configs: Any, *args: Any, **kwargs: Any) -> None:
        original(self, fn, names, list(configs)[:1], *args, **kwargs)

    Autotuner.__init__ = first
    import flag_gems as gems

    gems.enable(unused=LEFT_OUT)
    return f"flag_gems {metadata.version('flag_gems')}"


def merge(path: str, parts: list[str]) -> None:
    """Put the files of several processes together."""
    whole: dict[str, Any] = {}
    for part in parts:
        with contextlib.suppress(OSError, ValueError), open(part, encoding="utf-8") as file:
            data = json.load(file)
            whole = {**data, **whole, "runs": [*whole.get("runs", []), *data["runs"]]}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(whole, file, indent=1)


def main() -> None:
    """Run the models."""
    parser = argparse.ArgumentParser()
    parser.add_argument("path")
    parser.add_argument("parts", nargs="*", help="with --merge: files to put together")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--only", default=",".join(MODELS))
    parser.add_argument("--dtypes", default="f32,bf16,f16")
    parser.add_argument("--overheads", default="", help="also four steps each: 10,2")
    parser.add_argument("--kernels", choices=["flag_gems", "liger"], help="switch these on")
    parser.add_argument("--save", help="a folder for calls that are wrong")
    parser.add_argument("--part", default="1/1", help="3/8 runs every eighth, from the third on")
    parser.add_argument("--merge", action="store_true")
    asked = parser.parse_args()
    if asked.merge:
        return merge(asked.path, asked.parts)
    overheads = [float(one) for one in asked.overheads.split(",") if one]
    found = head(asked.device, asked.kernels)
    number, count = map(int, asked.part.split("/"))
    runs = [(name, dtype) for name in asked.only.split(",") for dtype in asked.dtypes.split(",")]
    for name, dtype in runs[number - 1 :: count]:
        try:
            run = measure(name, dtype, asked.device, overheads, asked.save)
        except Exception as error:
            run = {"model": name, "dtype": dtype, "error": said(error)}
        found["runs"].append(run)
        wrong = [f"{f['operator']} {f['kind']}" for f in run.get("findings", ())]
        print(name, dtype, run.get("answer", run.get("error")), wrong, flush=True)
        with open(asked.path, "w", encoding="utf-8") as file:
            json.dump(found, file, indent=1)


if __name__ == "__main__":
    main()
