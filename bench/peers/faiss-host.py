"""Searches with faiss for adapters/faiss.ts: python faiss-host.py FILE RECORDS DIMENSIONS THREADS

FILE starts with RECORDS x DIMENSIONS little-endian float32 values of unit vectors. Once they are in the index, "ready"
is written. Then each line of standard input, {"query": float32 values in base64, "limit": a number, "mask": a file of
one bit a record, or nothing}, is answered by one line, best first: {"micros": time inside the index, "rows": int32
values in base64, "scores": float32 values in base64}.
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
    index = faiss.IndexFlatIP(dimensions)
    index.add(np.memmap(path, np.float32, "r", shape=(records, dimensions)))
    parameters = {None: None}
    print("ready", flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        query = np.frombuffer(b64decode(request["query"]), np.float32).reshape(1, dimensions)
        mask = request.get("mask")
        if mask not in parameters:
            selector = faiss.IDSelectorBitmap(np.fromfile(mask, np.uint8))
            parameters[mask] = faiss.SearchParameters(sel=selector)
        follow_parent()
        started = time.perf_counter()
        scores, rows = index.search(query, request["limit"], params=parameters[mask])
        micros = (time.perf_counter() - started) * 1e6
        # Where fewer are found than asked for, the rest of the rows are -1.
        found = rows[0] >= 0
        answer = {"micros": micros, "rows": text_of(rows[0][found].astype(np.int32)), "scores": text_of(scores[0][found])}
        print(json.dumps(answer), flush=True)


def follow_parent() -> None:
    """Moves to the cores that the parent may use: it is tied to one after loading."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, os.sched_getaffinity(os.getppid()))


def text_of(values: np.ndarray) -> str:
    return b64encode(values.tobytes()).decode()


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
