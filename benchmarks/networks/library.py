"""Small networks of the library transformers with random weights, exported by both exporters.

GPT-2 as the library had it first, `gpt2_early`, is written out here.

    python -m benchmarks.networks.library FOLDER [NAME ...] [--attention eager|sdpa]

Needs torch, transformers and onnxscript. A file is `<name>_<exporter>.onnx`; beside it lie its
inputs, `<name>_<exporter>.npz`. What an exporter refuses is told in one line.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from torch import Tensor, nn

from benchmarks.networks.early_gpt2 import EarlyGpt2
from benchmarks.networks.encoders import Size

EXPORTERS = {"ts": False, "dynamo": True}
OPSET = {"ts": 17, "dynamo": 18}
WORDS = 100


@dataclass(frozen=True, slots=True)
class Case:
    """A module, what it takes, and which sizes stay free.

    Attributes:
        build: the module in evaluation mode.
        inputs: tensors by name, in order.
        free: names of sizes, by input and axis.
    """

    build: Callable[[], nn.Module]
    inputs: Callable[[], dict[str, Tensor]]
    free: dict[str, dict[int, str]]


class Plain(nn.Module):
    """A network of the library that takes and gives tensors, nothing else."""

    def __init__(self, network: nn.Module, take: Callable[..., Any]) -> None:
        super().__init__()
        self.network = network
        self.take = take

    def forward(self, *given: Tensor) -> tuple[Tensor, ...]:
        """The tensors of the result, in order."""
        return tuple(tensors(self.take(self.network, *given)))


def tensors(found: Any) -> Iterable[Tensor]:
    """All tensors of a result."""
    if isinstance(found, Tensor):
        yield found
    elif hasattr(found, "layers") and hasattr(found, "get_seq_length"):
        for layer in found.layers:
            yield layer.keys
            yield layer.values
    elif isinstance(found, dict):
        for each in found.values():
            yield from tensors(each)
    elif isinstance(found, list | tuple):
        for each in found:
            yield from tensors(each)


ATTENTION = ["eager"]
"""How the library computes it: spelled out, or by PyTorch's own function."""


def made(kind: str, config: Any, take: Callable[..., Any]) -> Callable[[], nn.Module]:
    """The module of a class of the library, the same weights every time."""

    def build() -> nn.Module:
        torch.manual_seed(0)
        config._attn_implementation = ATTENTION[0]
        return Plain(getattr(transformers, kind)(config), take).eval()

    return build


def early_gpt2() -> nn.Module:
    """GPT-2 of 2020 in six layers."""
    torch.manual_seed(0)
    size = Size(layers=6, width=32, heads=4, inner=128)
    return Plain(EarlyGpt2(size, words=WORDS, positions=64), encoded).eval()


def ids(*shape: int) -> Tensor:
    """Words."""
    return torch.randint(1, WORDS, shape, generator=torch.Generator().manual_seed(1))


def normal(*shape: int) -> Tensor:
    """Pixels, sound, earlier keys."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(1))


def text() -> dict[str, Tensor]:
    """Two sentences, the second one shorter."""
    mask = torch.ones(2, 9, dtype=torch.int64)
    mask[1, 6:] = 0
    return {"input_ids": ids(2, 9), "attention_mask": mask}


def pixels(side: int) -> Callable[[], dict[str, Tensor]]:
    """A square picture."""
    return lambda: {"pixels": normal(1, 3, side, side)}


TEXT = {"input_ids": {0: "batch", 1: "seq"}, "attention_mask": {0: "batch", 1: "seq"}}
SMALL = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}


def masked(network: nn.Module, tokens: Tensor, mask: Tensor) -> Any:
    """Logits of a network without cache."""
    return network(tokens, attention_mask=mask, use_cache=False)


def encoded(network: nn.Module, tokens: Tensor, mask: Tensor) -> Any:
    """An encoder."""
    return network(tokens, attention_mask=mask)


def seen(network: nn.Module, image: Tensor) -> Any:
    """A network of pictures."""
    return network(image)


def cached(network: nn.Module, tokens: Tensor, mask: Tensor, *past: Tensor) -> Any:
    """A network that is given earlier keys and values, layer by layer."""
    cache = transformers.DynamicCache()
    for layer in range(len(past) // 2):
        cache.update(past[2 * layer], past[2 * layer + 1], layer)
    return network(tokens, attention_mask=mask, past_key_values=cache, use_cache=True)


def with_past(layers: int, heads: int, size: int) -> Callable[[], dict[str, Tensor]]:
    """Three new words after five."""

    def inputs() -> dict[str, Tensor]:
        past = {
            f"past_{layer}_{kind}": normal(2, heads, 5, size)
            for layer in range(layers)
            for kind in ("key", "value")
        }
        return {
            "input_ids": ids(2, 3),
            "attention_mask": torch.ones(2, 8, dtype=torch.int64),
            **past,
        }

    return inputs


def past_sizes(layers: int) -> dict[str, dict[int, str]]:
    """Names of the sizes of `with_past`."""
    free: dict[str, dict[int, str]] = {
        "input_ids": {0: "batch", 1: "seq"},
        "attention_mask": {0: "batch", 1: "total"},
    }
    for layer in range(layers):
        for kind in ("key", "value"):
            free[f"past_{layer}_{kind}"] = {0: "batch", 2: "past"}
    return free


def language() -> dict[str, Case]:
    """Networks that read text."""
    t = transformers
    bert = t.BertConfig(vocab_size=WORDS, intermediate_size=64, **SMALL)
    distil = t.DistilBertConfig(vocab_size=WORDS, dim=32, n_layers=2, n_heads=4, hidden_dim=64)
    gpt2 = t.GPT2Config(vocab_size=WORDS, n_embd=32, n_layer=2, n_head=4, n_positions=64)
    gptj = t.GPTJConfig(
        vocab_size=WORDS, n_embd=32, n_layer=2, n_head=4, n_positions=64, rotary_dim=4
    )
    cohere = t.CohereConfig(
        vocab_size=WORDS, intermediate_size=64, num_key_value_heads=2, pad_token_id=0, **SMALL
    )
    llama = t.LlamaConfig(vocab_size=WORDS, intermediate_size=64, num_key_value_heads=2, **SMALL)
    t5 = t.T5Config(vocab_size=WORDS, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4)
    both = {**TEXT, "decoder_input_ids": {0: "batch", 1: "dec"}}

    def answered(network: nn.Module, tokens: Tensor, mask: Tensor, said: Tensor) -> Any:
        return network(
            input_ids=tokens, attention_mask=mask, decoder_input_ids=said, use_cache=False
        ).last_hidden_state

    return {
        "bert": Case(made("BertModel", bert, encoded), text, TEXT),
        "distilbert": Case(made("DistilBertModel", distil, encoded), text, TEXT),
        "gpt2": Case(made("GPT2Model", gpt2, masked), text, TEXT),
        "gpt2_cache": Case(made("GPT2Model", gpt2, cached), with_past(2, 4, 8), past_sizes(2)),
        "gpt2_early": Case(early_gpt2, text, TEXT),
        "gptj": Case(made("GPTJModel", gptj, masked), text, TEXT),
        "cohere": Case(made("CohereModel", cohere, masked), text, TEXT),
        "llama": Case(made("LlamaModel", llama, masked), text, TEXT),
        "llama_cache": Case(made("LlamaModel", llama, cached), with_past(2, 2, 8), past_sizes(2)),
        "t5": Case(
            made("T5Model", t5, answered), lambda: {**text(), "decoder_input_ids": ids(2, 4)}, both
        ),
    }


def vision() -> dict[str, Case]:
    """Networks that see or hear."""
    t = transformers
    vit = t.ViTConfig(image_size=32, patch_size=8, intermediate_size=64, **SMALL)
    swin = t.SwinConfig(
        image_size=56, patch_size=2, embed_dim=16, depths=[2, 2], num_heads=[2, 4], window_size=7
    )
    half = {"intermediate_size": 64, **SMALL}
    clip = t.CLIPConfig(
        text_config={"vocab_size": WORDS, "max_position_embeddings": 16, **half},
        vision_config={"image_size": 32, "patch_size": 8, **half},
        projection_dim=16,
    )
    whisper = t.WhisperConfig(
        vocab_size=WORDS, num_mel_bins=8, d_model=32, encoder_layers=2, decoder_layers=2,
        encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64,
        decoder_ffn_dim=64, max_source_positions=20, max_target_positions=20,
        pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1,
    )  # fmt: skip
    detr = t.DetrConfig(
        use_timm_backbone=False, use_pretrained_backbone=False, d_model=32, encoder_layers=2,
        decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
        encoder_ffn_dim=64, decoder_ffn_dim=64, num_queries=10,
        backbone_config=t.ResNetConfig(
            embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], out_features=["stage2"]
        ),
    )  # fmt: skip
    segformer = t.SegformerConfig(
        hidden_sizes=[8, 16, 16, 32], depths=[1, 1, 1, 1], num_attention_heads=[1, 2, 2, 4],
        decoder_hidden_size=32,
    )  # fmt: skip

    def paired(network: nn.Module, tokens: Tensor, mask: Tensor, image: Tensor) -> Any:
        found = network(input_ids=tokens, attention_mask=mask, pixel_values=image)
        return found.logits_per_image, found.text_embeds

    def heard(network: nn.Module, sound: Tensor, said: Tensor) -> Any:
        return network(sound, decoder_input_ids=said, use_cache=False).last_hidden_state

    return {
        "vit": Case(made("ViTModel", vit, seen), pixels(32), {"pixels": {0: "batch"}}),
        "swin": Case(made("SwinModel", swin, seen), pixels(56), {"pixels": {0: "batch"}}),
        "clip": Case(
            made("CLIPModel", clip, paired),
            lambda: {**text(), "pixels": normal(2, 3, 32, 32)},
            TEXT,
        ),
        "whisper": Case(
            made("WhisperModel", whisper, heard),
            lambda: {"sound": normal(1, 8, 40), "decoder_input_ids": ids(1, 6)},
            {"decoder_input_ids": {1: "dec"}},
        ),
        "detr": Case(made("DetrModel", detr, seen), pixels(64), {}),
        "segformer": Case(made("SegformerModel", segformer, seen), pixels(64), {}),
    }


def exported(case: Case, path: Path, *, exporter: str) -> None:
    """Write a network and its inputs."""
    module, inputs = case.build(), case.inputs()
    arguments: dict[str, Any] = {
        "input_names": [*inputs], "opset_version": OPSET[exporter], "dynamo": EXPORTERS[exporter]
    }  # fmt: skip
    if EXPORTERS[exporter]:
        dim = torch.export.Dim
        known: dict[str, Any] = {}
        shapes = [
            {axis: known.setdefault(n, dim.DYNAMIC) for axis, n in case.free.get(name, {}).items()}
            for name in inputs
        ]
        arguments |= {"dynamic_shapes": (tuple(shapes),), "optimize": False, "verbose": False}
    else:
        arguments["dynamic_axes"] = case.free
    with torch.no_grad():
        torch.onnx.export(module, tuple(inputs.values()), str(path), **arguments)
    np.savez(path.with_suffix(".npz"), **{name: each.numpy() for name, each in inputs.items()})


def main(argv: list[str] | None = None) -> int:
    """Export all, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--attention", choices=("eager", "sdpa"), default="eager")
    arguments = parser.parse_args(argv)
    ATTENTION[0] = arguments.attention
    arguments.folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    cases = language() | vision()
    for name in arguments.names or cases:
        for exporter in EXPORTERS:
            path = arguments.folder / f"{name}_{exporter}.onnx"
            try:
                exported(cases[name], path, exporter=exporter)
            except Exception as error:
                path.unlink(missing_ok=True)
                last = (str(error).strip().splitlines() or [""])[0]
                print(f"{path.name}: {type(error).__name__}: {last[:160]}", file=sys.stderr)
                continue
            print(path.name, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
