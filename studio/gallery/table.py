"""What is in the gallery. `python -m benchmarks.pack_gallery` prints the figures."""

from __future__ import annotations

from dataclasses import dataclass

from studio.gallery.figures import figures_of


@dataclass(frozen=True, slots=True)
class GalleryModel:
    """A sample network.

    Attributes:
        id: short name, as in `?model=resnet50`.
        title: display name.
        told: one sentence on what there is to see, with places for what was counted.
        file: the packed file beside this module.
        nodes: operators, Constant not counted.
        size_bytes: of the unpacked file.
        origin: the configuration it was exported from; all weights are random.
        sha256: of the unpacked file, in hex.
    """

    id: str
    title: str
    told: str
    file: str
    nodes: int
    size_bytes: int
    origin: str
    sha256: str

    @property
    def story(self) -> str:
        """The sentence with its figures; they come from the trace."""
        figures = figures_of(self.id)
        return figures.told(self.told) if figures is not None else ""


MODELS = (
    GalleryModel(
        id="tour",
        title="Tour",
        told=(
            "Made by hand: every pass has something to do here, and a few near misses say "
            "why they were left alone."
        ),
        file="tour.onnx.xz",
        nodes=156,
        size_bytes=49_169,
        origin="built by studio/gallery/tour.py",
        sha256="593a9a10cbdb41aad29f077c5e90f32d5d1db83ce0105ebd8c01dea548f01d8c",
    ),
    GalleryModel(
        id="resnet50",
        title="ResNet-50",
        told=(
            "A BatchNorm stands behind each of its {steps} convolutions; folded into the weights, "
            "{gone} of the operators are gone."
        ),
        file="resnet50.onnx.xz",
        nodes=175,
        size_bytes=102_528_303,
        origin="transformers 4.44.2 ResNet-50 at full size, opset 13",
        sha256="712774d32dfceb55f29cd8ab7777352523f63882f0a1d71d31d3cfacdbd8fb4b",
    ),
    GalleryModel(
        id="mobilenetv2",
        title="MobileNetV2",
        told=(
            "Every convolution computes its own padding; as constants these operators vanish, the "
            "BatchNorms fold in, and {gone} of the graph is gone."
        ),
        file="mobilenetv2.onnx.xz",
        nodes=828,
        size_bytes=14_459_487,
        origin="transformers 4.44.2 MobileNetV2 1.0 224 at full size, opset 12",
        sha256="7eb1c358b628253f5f8a37c642ae1215a5bdd6951907ef1c4503712fbf19c4e7",
    ),
    GalleryModel(
        id="bert",
        title="BERT",
        told=(
            "Twelve layers that ask for the same sizes again and again; once they are known, "
            "{gone} of the operators are gone."
        ),
        file="bert.onnx.xz",
        nodes=1121,
        size_bytes=1_949_961,
        origin="transformers 4.44.2 BERT, 12 layers 48 wide, opset 14",
        sha256="8bc3f03adec16d22602b436eb16dc3cdcd1084c77fe4c109f667e9e35d4716eb",
    ),
    GalleryModel(
        id="gpt2",
        title="GPT-2 with cache",
        told=(
            "A decoder that splits, masks and extends its key-value cache by shape "
            "arithmetic, most of it known beforehand."
        ),
        file="gpt2.onnx.xz",
        nodes=1097,
        size_bytes=2_384_895,
        origin="transformers 4.44.2 GPT-2, 6 layers 48 wide, key-value cache, opset 14",
        sha256="9b8648c1d20112ab4ce6b168fd062bdab3f48aaa3b2b6dc8171626bcd811b14b",
    ),
    GalleryModel(
        id="llama",
        title="Llama",
        told=(
            "Rotary positions and grouped heads work out the same sizes in every layer; {gone} of "
            "the operators are bookkeeping and go."
        ),
        file="llama.onnx.xz",
        nodes=886,
        size_bytes=2_602_021,
        origin="transformers 4.44.2 Llama, 4 layers 96 wide, grouped heads, opset 17",
        sha256="448926e7f32787804c6a90f05b9609fd3ad7a3401f2e621607b6e84b96e4e9af",
    ),
    GalleryModel(
        id="swin",
        title="Swin",
        told=(
            "Shifted windows exported as thousands of operators, most of which compute only "
            "indices and shapes; one in {times} is left."
        ),
        file="swin.onnx.xz",
        nodes=6719,
        size_bytes=4_081_919,
        origin="transformers 4.44.2 Swin-T, 12 wide, opset 14",
        sha256="5941b313f9bc42146ba0a4c0f89c104ca46662b59f38046c2e275492f45fd524",
    ),
    GalleryModel(
        id="whisper-encoder",
        title="Whisper encoder",
        told=(
            "Audio encoder whose sizes, scales and transposed weights are worked out at run time, "
            "until they are folded."
        ),
        file="whisper-encoder.onnx.xz",
        nodes=331,
        size_bytes=32_900_097,
        origin="transformers 4.44.2 Whisper tiny encoder at full size, opset 14",
        sha256="1c1eb492fcea513c8e72e3f6f3383034ebc7821b1c2a63b545ef5019cd376052",
    ),
    GalleryModel(
        id="mamba",
        title="Mamba",
        told=(
            "A state-space scan unrolled over 16 steps: long runs of Gather and Unsqueeze, "
            "and casts that change nothing."
        ),
        file="mamba.onnx.xz",
        nodes=917,
        size_bytes=864_083,
        origin="transformers 4.44.2 Mamba, 4 layers 64 wide, 16 steps unrolled, opset 14",
        sha256="0198f7b52478ae4e9cbaa3b0dc18c7383ece50270f4e092fffb95bfff476c0ae",
    ),
    GalleryModel(
        id="detr",
        title="DETR",
        told=(
            "Its backbone writes BatchNorm as Sqrt, Div, Mul and Add: first these fold to "
            "constants, then into the convolutions."
        ),
        file="detr.onnx.xz",
        nodes=2662,
        size_bytes=3_964_282,
        origin="transformers 4.44.2 DETR ResNet-50, 48 wide, 256×256, opset 14",
        sha256="53dddc4e0a8f07deb1ddfdf56fdac56e3da0487a3501655cc3addf48fe1f5e05",
    ),
    GalleryModel(
        id="t5",
        title="T5",
        told=(
            "Encoder and decoder in one graph; position buckets, masks and head shapes are "
            "worked out from sizes already known."
        ),
        file="t5.onnx.xz",
        nodes=1223,
        size_bytes=3_336_494,
        origin="transformers 4.44.2 T5, 6+6 layers 64 wide, opset 13",
        sha256="42ac43c031b4afa1e64106096bcd52fe10bad726d131b5dad34d44393e4b00a7",
    ),
    GalleryModel(
        id="vit",
        title="ViT",
        told=(
            "Patches from one convolution, then twelve equal layers of attention whose head "
            "shapes fold away."
        ),
        file="vit.onnx.xz",
        nodes=1112,
        size_bytes=3_915_084,
        origin="transformers 4.44.2 ViT, 12 layers 72 wide, patches of 16, opset 14",
        sha256="89d231a4b85ad62ba2fccfac258662c6725c2b1fe73a4522050895e24d121cdb",
    ),
)
