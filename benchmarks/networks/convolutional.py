"""ResNet-50 (He et al. 2016, v1.5: the stride in the 3×3) and MobileNetV2 (Sandler et al. 2018)."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn


def conv_norm(
    channels: int, out: int, kernel: int, *, stride: int = 1, groups: int = 1
) -> nn.Sequential:
    """Convolution without bias, and the normalization that brings one."""
    return nn.Sequential(
        nn.Conv2d(channels, out, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(out),
    )


class Bottleneck(nn.Module):
    """1×1, 3×3, 1×1, and a way around."""

    def __init__(self, channels: int, width: int, stride: int) -> None:
        super().__init__()
        out = 4 * width
        self.body = nn.Sequential(
            conv_norm(channels, width, 1), nn.ReLU(),
            conv_norm(width, width, 3, stride=stride), nn.ReLU(),
            conv_norm(width, out, 1),
        )  # fmt: skip
        around = stride != 1 or channels != out
        self.around = conv_norm(channels, out, 1, stride=stride) if around else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        """x: float[N, C, H, W]."""
        return nn.functional.relu(self.body(x) + self.around(x))


def resnet(depths: Sequence[int], *, width: int = 64, classes: int = 1000) -> nn.Module:
    """A ResNet of bottlenecks; depths (3, 4, 6, 3) are ResNet-50."""
    layers: list[nn.Module] = [
        conv_norm(3, width, 7, stride=2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)
    ]  # fmt: skip
    channels = width
    for stage, depth in enumerate(depths):
        inner = width << stage
        for block in range(depth):
            layers.append(Bottleneck(channels, inner, 2 if stage and not block else 1))
            channels = 4 * inner
    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, classes)]
    return nn.Sequential(*layers, *head)


class InvertedResidual(nn.Module):
    """Widen, depthwise 3×3, narrow; around it where the shapes allow."""

    def __init__(self, channels: int, out: int, *, stride: int, widening: int) -> None:
        super().__init__()
        inner = channels * widening
        widen = [conv_norm(channels, inner, 1), nn.ReLU6()] if widening > 1 else []
        self.body = nn.Sequential(
            *widen,
            conv_norm(inner, inner, 3, stride=stride, groups=inner), nn.ReLU6(),
            conv_norm(inner, out, 1),
        )  # fmt: skip
        self.around = stride == 1 and channels == out

    def forward(self, x: Tensor) -> Tensor:
        """x: float[N, C, H, W]."""
        return x + self.body(x) if self.around else self.body(x)


MOBILENET_V2 = (
    (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
    (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1),
)  # fmt: skip
"""Widening, channels, repeats and first stride of each stage: table 2 of the paper."""


def mobilenet(stages: Sequence[tuple[int, int, int, int]], *, classes: int = 1000) -> nn.Module:
    """MobileNetV2 at width 1."""
    layers: list[nn.Module] = [conv_norm(3, 32, 3, stride=2), nn.ReLU6()]
    channels = 32
    for widening, out, repeats, first in stages:
        for block in range(repeats):
            stride = first if block == 0 else 1
            layers.append(InvertedResidual(channels, out, stride=stride, widening=widening))
            channels = out
    layers += [conv_norm(channels, 1280, 1), nn.ReLU6()]
    return nn.Sequential(
        *layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1280, classes)
    )  # fmt: skip
