"""Writes src/cosift/_sync from src/cosift/_async, so that both clients are one: python unasync.py [--check]"""

from __future__ import annotations

import re
import sys
from pathlib import Path

HEADER = "# Written by `python unasync.py` from ../_async. Do not edit.\n"

REPLACEMENTS = [
    (r"AsyncGenerator\[(.+), None\]", r"Generator[\1, None, None]"),
    (r"\bAsync([A-Z])", r"\1"),
    (r"\basync_", ""),
    (r"\b_async\b", "_sync"),
    (r"\basync (def|for|with)\b", r"\1"),
    (r"\bawait ", ""),
    (r"__a(enter|exit)__", r"__\1__"),
    (r"\ba(close|read|iter_raw)\b", r"\1"),
]


def main() -> None:
    package = Path(__file__).parent / "src" / "cosift"
    stale: list[str] = []
    for source in sorted((package / "_async").glob("*.py")):
        text = source.read_text()
        for pattern, replacement in REPLACEMENTS:
            text = re.sub(pattern, replacement, text)
        text = HEADER + text
        target = package / "_sync" / source.name
        if "--check" not in sys.argv:
            target.write_text(text)
        elif not target.exists() or target.read_text() != text:
            stale.append(target.name)
    if stale:
        sys.exit(f"run `python unasync.py`: {', '.join(stale)}")


if __name__ == "__main__":
    main()
