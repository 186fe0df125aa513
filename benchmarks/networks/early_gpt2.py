"""GPT-2 as transformers had it until 2020: later words are multiplied away, not hidden by Where."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from benchmarks.networks.encoders import Size


class Weights(nn.Module):
    """A product with a matrix that stands the other way round than in Linear."""

    def __init__(self, inside: int, outside: int) -> None:
        super().__init__()
        self.outside = outside
        self.weight = nn.Parameter(torch.randn(inside, outside) * 0.1)
        self.bias = nn.Parameter(torch.zeros(outside))

    def forward(self, x: Tensor) -> Tensor:
        """x: float[N, S, inside]."""
        found = torch.addmm(self.bias, x.view(-1, x.size(-1)), self.weight)
        return found.view(*x.size()[:-1], self.outside)


class EarlyLayer(nn.Module):
    """A pre-normalized layer that hides later words by w · b − 10000 · (1 − b)."""

    def __init__(self, size: Size, *, positions: int) -> None:
        super().__init__()
        self.heads, self.width = size.heads, size.width
        lower = torch.tril(torch.ones(positions, positions)).view(1, 1, positions, positions)
        self.register_buffer("lower", lower)
        self.norm1, self.norm2 = nn.LayerNorm(size.width), nn.LayerNorm(size.width)
        self.mixed, self.out = Weights(size.width, 3 * size.width), Weights(size.width, size.width)
        self.up, self.down = Weights(size.width, size.inner), Weights(size.inner, size.width)

    def forward(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """x: float[N, S, C]; mask: float[N, 1, 1, S]. With keys and values, one after the other."""
        found, present = self.attend(self.norm1(x), mask)
        x = x + found
        y = self.up(self.norm2(x))
        y = 0.5 * y * (1 + torch.tanh(math.sqrt(2 / math.pi) * (y + 0.044715 * torch.pow(y, 3))))
        return x + self.down(y), present

    def attend(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Causal attention over float[N, S, C]."""
        query, key, value = self.mixed(x).split(self.width, dim=2)
        query, value = self.apart(query).permute(0, 2, 1, 3), self.apart(value).permute(0, 2, 1, 3)
        key = self.apart(key).permute(0, 2, 3, 1)
        scores = torch.matmul(query, key) / math.sqrt(value.size(-1))
        rows, columns = scores.size(-2), scores.size(-1)
        seen = self.lower[:, :, columns - rows : columns, :columns]
        scores = scores * seen - 1e4 * (1 - seen)
        shares = nn.functional.softmax(scores + mask, dim=-1)
        found = torch.matmul(shares, value).permute(0, 2, 1, 3).contiguous()
        present = torch.stack((key.transpose(-2, -1), value))
        return self.out(found.view(*found.size()[:-2], self.width)), present

    def apart(self, x: Tensor) -> Tensor:
        """float[N, S, C] as float[N, S, heads, C / heads]."""
        return x.view(*x.size()[:-1], self.heads, x.size(-1) // self.heads)


class EarlyGpt2(nn.Module):
    """Words in, hidden states out, with keys and values of each layer."""

    def __init__(self, size: Size, *, words: int, positions: int) -> None:
        super().__init__()
        self.words = nn.Embedding(words, size.width)
        self.positions = nn.Embedding(positions, size.width)
        self.layers = nn.ModuleList(
            EarlyLayer(size, positions=positions) for _ in range(size.layers)
        )
        self.norm = nn.LayerNorm(size.width)

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> tuple[Tensor, ...]:
        """Both: int64[N, S]."""
        places = torch.arange(0, input_ids.size(-1), dtype=torch.long).unsqueeze(0)
        x = self.words(input_ids) + self.positions(places)
        mask = (1.0 - attention_mask.unsqueeze(1).unsqueeze(2).to(x.dtype)) * -10000.0
        presents: list[Tensor] = []
        for layer in self.layers:
            x, present = layer(x, mask)
            presents.append(present)
        return (self.norm(x), *presents)
