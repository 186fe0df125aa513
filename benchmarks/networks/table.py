"""The networks of the benchmark, full size and small."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.networks.convolutional import MOBILENET_V2, mobilenet, resnet
from benchmarks.networks.decoders import Gpt2, LlamaStack
from benchmarks.networks.encoders import Bert, Size, Vit, WhisperEncoder
from benchmarks.networks.network import Network
from benchmarks.networks.swin import Swin

Inputs = Callable[[], dict[str, Tensor]]
BASE = Size(width=768, heads=12, layers=12, inner=3072)
SMALL = Size(width=32, heads=4, layers=2, inner=64)
LOGITS = ("logits",)


def network(name: str, *, small: bool = False) -> Network:
    """A network of the benchmark.

    Args:
        name: one of `benchmarks.gpu_table.TITLES`.
        small: the same structure in seconds instead of minutes, for tests.

    Raises:
        KeyError: there is none of that name.
    """
    return (_small() if small else _full())[name]


def _full() -> dict[str, Network]:
    bert = partial(Bert, BASE, words=30_522, positions=512)
    gpt2 = partial(Gpt2, BASE, words=50_257, positions=1024)
    vit = partial(Vit, BASE, image=224, patch=16, classes=1000)
    block = Size(width=2048, heads=32, layers=6, inner=8192)
    llama = partial(LlamaStack, block, key_heads=8, length=512)
    whisper = partial(WhisperEncoder, BASE, bins=80, frames=3000)
    swin = partial(Swin, (2, 2, 6, 2), width=96, heads=3, image=224)
    return _named(
        Network(
            "resnet50",
            _made(partial(resnet, (3, 4, 6, 3))),
            _pixels(224),
            LOGITS,
        ),
        Network(
            "mobilenetv2",
            _made(partial(mobilenet, MOBILENET_V2)),
            _pixels(224),
            LOGITS,
        ),
        Network("bert", _made(bert), _tokens(30_522, 128), ("hidden",)),
        Network("vit", _made(vit), _pixels(224), LOGITS),
        Network(
            "gpt2",
            _made(gpt2),
            _cached(BASE, 50_257, 512),
            _presents(BASE),
        ),
        Network("llama", _made(llama), _hidden(512, 2048), ("out",)),
        Network(
            "whisper",
            _made(whisper),
            _spectrogram(80, 3000),
            ("hidden",),
        ),
        Network("swin", _made(swin), _pixels(224), LOGITS),
    )


def _small() -> dict[str, Network]:
    bert = partial(Bert, SMALL, words=100, positions=16)
    gpt2 = partial(Gpt2, SMALL, words=100, positions=32)
    vit = partial(Vit, SMALL, image=32, patch=8, classes=10)
    llama = partial(LlamaStack, SMALL, key_heads=2, length=8)
    whisper = partial(WhisperEncoder, SMALL, bins=8, frames=16)
    swin = partial(Swin, (2, 2), width=16, heads=2, image=112)
    cnn = partial(resnet, (1, 1), width=8, classes=10)
    mobile = partial(mobilenet, MOBILENET_V2[:2], classes=10)
    return _named(
        Network("resnet50", _made(cnn), _pixels(32), LOGITS),
        Network("mobilenetv2", _made(mobile), _pixels(32), LOGITS),
        Network("bert", _made(bert), _tokens(100, 8), ("hidden",)),
        Network("vit", _made(vit), _pixels(32), LOGITS),
        Network("gpt2", _made(gpt2), _cached(SMALL, 100, 4), _presents(SMALL)),
        Network("llama", _made(llama), _hidden(8, 32), ("out",)),
        Network("whisper", _made(whisper), _spectrogram(8, 16), ("hidden",)),
        Network("swin", _made(swin), _pixels(112), LOGITS),
    )


def _named(*networks: Network) -> dict[str, Network]:
    return {found.id: found for found in networks}


def _made(make: Callable[[], nn.Module]) -> Callable[[], Any]:
    """The module in evaluation mode, its weights drawn from the same seed every time."""

    def build() -> nn.Module:
        torch.manual_seed(0)
        module = make().eval()
        for part in module.modules():
            if isinstance(part, nn.BatchNorm2d) and part.running_mean is not None:
                # Fresh statistics would make the normalization an identity
                part.running_mean.normal_(0, 0.1)
                part.running_var.uniform_(0.5, 1.5)
        return module

    return build


def _pixels(side: int) -> Inputs:
    return lambda: {"pixels": _normal(1, 3, side, side)}


def _hidden(length: int, width: int) -> Inputs:
    return lambda: {"hidden_in": _normal(1, length, width)}


def _spectrogram(bins: int, frames: int) -> Inputs:
    return lambda: {"spectrogram": _normal(1, bins, frames)}


def _tokens(words: int, length: int) -> Inputs:
    def inputs() -> dict[str, Tensor]:
        mask = torch.ones(1, length, dtype=torch.int64)
        mask[:, -length // 4 :] = 0
        return {"input_ids": _ids(words, length), "attention_mask": mask}

    return inputs


def _cached(size: Size, words: int, past: int) -> Inputs:
    def inputs() -> dict[str, Tensor]:
        shape = (1, size.heads, past, size.width // size.heads)
        cache = {
            f"past_{number}_{kind}": _normal(*shape, seed=2 * number + (kind == "value"))
            for number in range(size.layers)
            for kind in ("key", "value")
        }
        place = torch.full((1, 1), past, dtype=torch.int64)
        return {"input_ids": _ids(words, 1), "position_ids": place, **cache}

    return inputs


def _presents(size: Size) -> tuple[str, ...]:
    names = [f"present_{n}_{kind}" for n in range(size.layers) for kind in ("key", "value")]
    return ("logits", *names)


def _ids(words: int, length: int) -> Tensor:
    return torch.randint(0, words, (1, length), generator=torch.Generator().manual_seed(1))


def _normal(*shape: int, seed: int = 1) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))
