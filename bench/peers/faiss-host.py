"""Searches with faiss for adapters/faiss.ts: python faiss-host.py FILE RECORDS DIMENSIONS THREADS

FILE starts with RECORDS x DIMENSIONS little-endian float32 values of unit vectors. Once they are in the index, "ready"
is written. Then each line of standard input, {"queries": float32 values in base64, "limit": a number, "mask": a file of
one bit a record, or nothing}, is answered by one line: {"micros": time inside the index for all queries, "rows": for each
query int32 values in base64, best first, "scores": for each query float32 values in base64}.
"""

from __future__ import annotations

import json
import os
import sys
import time
from base64 import b64decode, b64encode

import faiss
import numpy as np


def main(path: str, records: int, dimensions: int, threads: int) -> None:
    faiss.omp_set_num_threads(threads)
    # The default of earlier versions: with that of this one, 64 queries at once take four times as long.
    faiss.cvar.distance_compute_blas_threshold = 20
    index = faiss.IndexFlatIP(dimensions)
    index.add(np.memmap(path, np.float32, "r", shape=(records, dimensions)))
    parameters = {None: None}
    print("ready", flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        queries = np.frombuffer(b64decode(request["queries"]), np.float32).reshape(-1, dimensions)
        mask = request.get("mask")
        if mask not in parameters:
            selector = faiss.IDSelectorBitmap(np.fromfile(mask, np.uint8))
            parameters[mask] = faiss.SearchParameters(sel=selector)
        follow_parent()
        started = time.perf_counter()
        scores, rows = index.search(queries, request["limit"], params=parameters[mask])
        micros = (time.perf_counter() - started) * 1e6
        # Where fewer are found than asked for, the rest of the rows are -1.
        found = [row[row >= 0] for row in rows]
        answer = {
            "micros": micros,
            "rows": [text_of(row.astype(np.int32)) for row in found],
            "scores": [text_of(score[: len(row)]) for score, row in zip(scores, found, strict=True)],
        }
        print(json.dumps(answer), flush=True)


def follow_parent() -> None:
    """Moves to the cores that the parent may use: it is tied to one after loading."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, os.sched_getaffinity(os.getppid()))


def text_of(values: np.ndarray) -> str:
    return b64encode(values.tobytes()).decode()


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
