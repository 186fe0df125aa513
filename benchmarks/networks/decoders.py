"""Decoders: GPT-2 with a key-value cache, and a stack of Llama blocks (Touvron et al. 2023)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from benchmarks.networks.encoders import Size


class CachedLayer(nn.Module):
    """A pre-normalized layer of GPT-2 that appends to its cache."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.heads = size.heads
        self.norm1, self.norm2 = nn.LayerNorm(size.width), nn.LayerNorm(size.width)
        self.mixed = nn.Linear(size.width, 3 * size.width)
        self.out = nn.Linear(size.width, size.width)
        self.feed_forward = nn.Sequential(
            nn.Linear(size.width, size.inner),
            nn.GELU(approximate="tanh"),
            nn.Linear(size.inner, size.width),
        )

    def forward(self, x: Tensor, past_key: Tensor, past_value: Tensor) -> tuple[Tensor, ...]:
        """x: float[N, 1, C]; the cache: float[N, heads, past, C / heads]."""
        batch, length, width = x.shape
        mixed = self.mixed(self.norm1(x)).view(batch, length, 3 * self.heads, -1).transpose(1, 2)
        query, key, value = mixed.chunk(3, 1)
        key, value = torch.cat((past_key, key), 2), torch.cat((past_value, value), 2)
        found = nn.functional.scaled_dot_product_attention(query, key, value)
        x = x + self.out(found.transpose(1, 2).reshape(batch, length, width))
        return x + self.feed_forward(self.norm2(x)), key, value


class Gpt2(nn.Module):
    """One step of decoding: a token and the cache in, its logits and the longer cache out."""

    def __init__(self, size: Size, *, words: int, positions: int) -> None:
        super().__init__()
        self.words = nn.Embedding(words, size.width)
        self.positions = nn.Embedding(positions, size.width)
        self.layers = nn.ModuleList(CachedLayer(size) for _ in range(size.layers))
        self.norm = nn.LayerNorm(size.width)

    def forward(self, input_ids: Tensor, position_ids: Tensor, *past: Tensor) -> tuple[Tensor, ...]:
        """Ids int64[N, 1]; past: key and value of each layer in turn."""
        x = self.words(input_ids) + self.positions(position_ids)
        present: list[Tensor] = []
        for number, layer in enumerate(self.layers):
            x, key, value = layer(x, past[2 * number], past[2 * number + 1])
            present += [key, value]
        logits = nn.functional.linear(self.norm(x), self.words.weight)
        return (logits, *present)


class RootMeanSquareNorm(nn.Module):
    """Zhang and Sennrich 2019, without centring."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        """x: float[..., C]; the mean is taken in float32."""
        wide = x.float()
        scaled = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5)
        return scaled.to(x.dtype) * self.weight


class LlamaBlock(nn.Module):
    """Grouped-query attention with rotary positions, and a gated feed-forward part."""

    def __init__(self, size: Size, *, key_heads: int) -> None:
        super().__init__()
        self.heads, self.key_heads = size.heads, key_heads
        self.head = size.width // size.heads
        self.norm1, self.norm2 = RootMeanSquareNorm(size.width), RootMeanSquareNorm(size.width)
        self.query = nn.Linear(size.width, size.width, bias=False)
        self.key = nn.Linear(size.width, key_heads * self.head, bias=False)
        self.value = nn.Linear(size.width, key_heads * self.head, bias=False)
        self.out = nn.Linear(size.width, size.width, bias=False)
        self.gate = nn.Linear(size.width, size.inner, bias=False)
        self.up = nn.Linear(size.width, size.inner, bias=False)
        self.down = nn.Linear(size.inner, size.width, bias=False)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, mask: Tensor) -> Tensor:
        """x: float[N, S, C]; cos, sin: float[S, C / heads]; mask: float[S, S]."""
        x = x + self.attend(self.norm1(x), cos, sin, mask)
        y = self.norm2(x)
        return x + self.down(nn.functional.silu(self.gate(y)) * self.up(y))

    def attend(self, x: Tensor, cos: Tensor, sin: Tensor, mask: Tensor) -> Tensor:
        """Causal attention over float[N, S, C]."""
        batch, length, width = x.shape
        query = self.query(x).view(batch, length, self.heads, self.head).transpose(1, 2)
        key = self.key(x).view(batch, length, self.key_heads, self.head).transpose(1, 2)
        value = self.value(x).view(batch, length, self.key_heads, self.head).transpose(1, 2)
        query, key = rotated(query, cos, sin), rotated(key, cos, sin)
        shared = self.heads // self.key_heads
        key, value = key.repeat_interleave(shared, 1), value.repeat_interleave(shared, 1)
        found = nn.functional.scaled_dot_product_attention(query, key, value, mask)
        return self.out(found.transpose(1, 2).reshape(batch, length, width))


def rotated(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary positions (Su et al. 2021); x: float[N, heads, S, D]."""
    left, right = x.chunk(2, -1)
    return x * cos + torch.cat((-right, left), -1) * sin


class LlamaStack(nn.Module):
    """Blocks alone, without embedding and head: what is repeated in the real ones."""

    def __init__(self, size: Size, *, key_heads: int, length: int) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(
            LlamaBlock(size, key_heads=key_heads) for _ in range(size.layers)
        )
        self.norm = RootMeanSquareNorm(size.width)
        head = size.width // size.heads
        rates = 10_000.0 ** (-torch.arange(0, head, 2) / head)
        angles = torch.outer(torch.arange(length), rates).repeat(1, 2)
        # A large finite number: float16 must hold it
        mask = torch.full((length, length), -1e4).triu(1)
        for name, table in (("cos", angles.cos()), ("sin", angles.sin()), ("mask", mask)):
            self.register_buffer(name, table)

    def forward(self, hidden: Tensor) -> Tensor:
        """hidden: float[N, S, C]."""
        for block in self.blocks:
            hidden = block(hidden, self.cos, self.sin, self.mask)
        return self.norm(hidden)
