"""Encoders of sequences.

BERT (Devlin et al. 2019), ViT (Dosovitskiy et al. 2021), Whisper (Radford et al. 2022).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass(frozen=True, slots=True)
class Size:
    """Width, attention heads, layers and width of the feed-forward part."""

    width: int
    heads: int
    layers: int
    inner: int


class SelfAttention(nn.Module):
    """Scaled dot-product attention over all heads."""

    def __init__(self, size: Size, *, key_bias: bool = True) -> None:
        super().__init__()
        self.heads = size.heads
        self.query = nn.Linear(size.width, size.width)
        self.key = nn.Linear(size.width, size.width, bias=key_bias)
        self.value = nn.Linear(size.width, size.width)
        self.out = nn.Linear(size.width, size.width)

    def split(self, x: Tensor) -> Tensor:
        """float[N, S, C] -> float[N, heads, S, C / heads]."""
        batch, length, width = x.shape
        return x.view(batch, length, self.heads, width // self.heads).transpose(1, 2)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """x: float[N, S, C]; mask: added to the scores, float[N, 1, 1, S]."""
        found = nn.functional.scaled_dot_product_attention(
            self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x)), mask
        )
        return self.out(found.transpose(1, 2).flatten(2))


class Layer(nn.Module):
    """Attention and feed-forward part; normalized before each (`first`) or after."""

    def __init__(self, size: Size, *, first: bool, key_bias: bool = True) -> None:
        super().__init__()
        self.first = first
        self.attention = SelfAttention(size, key_bias=key_bias)
        self.norm1, self.norm2 = nn.LayerNorm(size.width), nn.LayerNorm(size.width)
        self.feed_forward = nn.Sequential(
            nn.Linear(size.width, size.inner), nn.GELU(), nn.Linear(size.inner, size.width)
        )

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """x: float[N, S, C]."""
        if self.first:
            x = x + self.attention(self.norm1(x), mask)
            return x + self.feed_forward(self.norm2(x))
        x = self.norm1(x + self.attention(x, mask))
        return self.norm2(x + self.feed_forward(x))


class Bert(nn.Module):
    """The encoder without pooler."""

    def __init__(self, size: Size, *, words: int, positions: int) -> None:
        super().__init__()
        self.words = nn.Embedding(words, size.width)
        self.positions = nn.Embedding(positions, size.width)
        self.norm = nn.LayerNorm(size.width)
        self.layers = nn.ModuleList(Layer(size, first=False) for _ in range(size.layers))

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Both int64[N, S]; returns float[N, S, C]."""
        places = torch.arange(input_ids.shape[1], device=input_ids.device)
        x = self.norm(self.words(input_ids) + self.positions(places))
        seen = attention_mask[:, None, None, :].to(x.dtype)
        mask = (1.0 - seen) * -1e4  # representable in float16
        for layer in self.layers:
            x = layer(x, mask)
        return x


class Vit(nn.Module):
    """Patches, a class token, pre-normalized layers, a linear head."""

    def __init__(self, size: Size, *, image: int, patch: int, classes: int) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, size.width, patch, patch)
        self.token = nn.Parameter(torch.zeros(1, 1, size.width))
        self.positions = nn.Parameter(torch.randn(1, (image // patch) ** 2 + 1, size.width) * 0.02)
        self.layers = nn.Sequential(*(Layer(size, first=True) for _ in range(size.layers)))
        self.norm = nn.LayerNorm(size.width)
        self.head = nn.Linear(size.width, classes)

    def forward(self, pixels: Tensor) -> Tensor:
        """pixels: float[N, 3, H, W]; returns float[N, classes]."""
        x = self.patches(pixels).flatten(2).transpose(1, 2)
        x = torch.cat((self.token.expand(x.shape[0], -1, -1), x), 1) + self.positions
        return self.head(self.norm(self.layers(x))[:, 0])


class WhisperEncoder(nn.Module):
    """Two convolutions over the spectrogram, then pre-normalized layers; keys have no bias."""

    def __init__(self, size: Size, *, bins: int, frames: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv1d(bins, size.width, 3, padding=1)
        self.conv2 = nn.Conv1d(size.width, size.width, 3, stride=2, padding=1)
        self.positions = nn.Parameter(torch.randn(frames // 2, size.width) * 0.02)
        layers = (Layer(size, first=True, key_bias=False) for _ in range(size.layers))
        self.layers = nn.Sequential(*layers)
        self.norm = nn.LayerNorm(size.width)

    def forward(self, spectrogram: Tensor) -> Tensor:
        """spectrogram: float[N, bins, frames]; returns float[N, frames / 2, C]."""
        gelu = nn.functional.gelu
        x = gelu(self.conv2(gelu(self.conv1(spectrogram))))
        return self.norm(self.layers(x.transpose(1, 2) + self.positions))
