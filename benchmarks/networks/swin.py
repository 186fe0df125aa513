"""Swin Transformer (Liu et al. 2021): attention in windows that shift from block to block."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn


class WindowAttention(nn.Module):
    """Attention inside windows of `window` × `window`, with relative positions."""

    def __init__(self, width: int, heads: int, window: int) -> None:
        super().__init__()
        self.heads = heads
        self.mixed = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.table = nn.Parameter(torch.randn((2 * window - 1) ** 2, heads) * 0.02)
        self.register_buffer("index", relative_index(window), persistent=False)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """x: float[windows, S, C]; mask: float[windows, 1, S, S]."""
        count, length, width = x.shape
        mixed = self.mixed(x).view(count, length, 3 * self.heads, -1).transpose(1, 2)
        query, key, value = mixed.chunk(3, 1)
        bias = self.table[self.index.flatten()].view(length, length, self.heads)
        scores = bias.permute(2, 0, 1)[None]
        found = nn.functional.scaled_dot_product_attention(
            query, key, value, scores if mask is None else scores + mask
        )
        return self.out(found.transpose(1, 2).reshape(count, length, width))


class SwinBlock(nn.Module):
    """Window attention, shifted or not, and a feed-forward part."""

    def __init__(self, width: int, heads: int, side: int, *, window: int, shift: int) -> None:
        super().__init__()
        self.window, self.side = min(window, side), side
        self.shift = shift if side > window else 0
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = WindowAttention(width, heads, self.window)
        self.feed_forward = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )
        mask = shift_mask(side, self.window, self.shift) if self.shift else None
        self.register_buffer("mask", mask, persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """x: float[N, side, side, C]."""
        y = self.norm1(x)
        if self.shift:
            y = y.roll((-self.shift, -self.shift), (1, 2))
        y = joined(self.attention(windows(y, self.window), self.mask), self.window, self.side)
        if self.shift:
            y = y.roll((self.shift, self.shift), (1, 2))
        x = x + y
        return x + self.feed_forward(self.norm2(x))


class PatchMerging(nn.Module):
    """Half the side, twice the channels."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(4 * width)
        self.reduce = nn.Linear(4 * width, 2 * width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """x: float[N, side, side, C]."""
        batch, side, _, width = x.shape
        x = x.view(batch, side // 2, 2, side // 2, 2, width).permute(0, 1, 3, 4, 2, 5)
        return self.reduce(self.norm(x.reshape(batch, side // 2, side // 2, 4 * width)))


class Swin(nn.Module):
    """Depths (2, 2, 6, 2) at width 96 are Swin-T."""

    def __init__(
        self, depths: Sequence[int], *, width: int, heads: int, image: int, window: int = 7
    ) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, 4, 4)
        self.norm = nn.LayerNorm(width)
        side = image // 4
        stages: list[nn.Module] = []
        for stage, depth in enumerate(depths):
            if stage:
                stages.append(PatchMerging(width))
                width, heads, side = 2 * width, 2 * heads, side // 2
            for block in range(depth):
                shift = window // 2 if block % 2 else 0
                stages.append(SwinBlock(width, heads, side, window=window, shift=shift))
        self.stages = nn.Sequential(*stages)
        self.head = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 1000))

    def forward(self, pixels: Tensor) -> Tensor:
        """pixels: float[N, 3, H, W]; returns float[N, classes]."""
        x = self.norm(self.patches(pixels).permute(0, 2, 3, 1))
        return self.head(self.stages(x).flatten(1, 2).mean(1))


def windows(x: Tensor, window: int) -> Tensor:
    """float[N, side, side, C] -> float[N · windows, window², C]."""
    batch, side, _, width = x.shape
    count = side // window
    x = x.view(batch, count, window, count, window, width).transpose(2, 3)
    return x.reshape(batch * count * count, window * window, width)


def joined(x: Tensor, window: int, side: int) -> Tensor:
    """The inverse of `windows`."""
    count = side // window
    width = x.shape[-1]
    x = x.view(-1, count, count, window, window, width).transpose(2, 3)
    return x.reshape(-1, side, side, width)


def relative_index(window: int) -> Tensor:
    """For each pair of places in a window the row of its bias: int64[S, S]."""
    steps = torch.arange(window)
    places = torch.stack(torch.meshgrid(steps, steps, indexing="ij")).flatten(1)
    apart = (places[:, :, None] - places[:, None, :]) + (window - 1)
    return apart[0] * (2 * window - 1) + apart[1]


def shift_mask(side: int, window: int, shift: int) -> Tensor:
    """Keeps what was not adjacent before the shift apart: float[windows, 1, S, S]."""
    region = torch.zeros(1, side, side, 1)
    cuts = (slice(0, -window), slice(-window, -shift), slice(-shift, None))
    for number, (rows, columns) in enumerate((r, c) for r in cuts for c in cuts):
        region[:, rows, columns] = number
    flat = windows(region, window).squeeze(-1)
    apart = flat[:, None, :] != flat[:, :, None]
    return torch.where(apart, -100.0, 0.0)[:, None]
