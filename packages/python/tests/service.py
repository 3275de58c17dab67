"""A service of its own for the tests."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
KEY = "key-of-the-service"


class Service:
    """A service on an empty directory, which is removed with it."""

    def __init__(self) -> None:
        self.data = tempfile.mkdtemp(prefix="cosift-python-")
        self.start()

    def start(self) -> None:
        program = str(ROOT / "dist" / "cli" / "main.js")
        options = ["--data", self.data, "--port", "0", "--rate-limit", "0", "--log-level", "error"]
        self._process = subprocess.Popen(
            ["node", program, "serve", *options],
            cwd=self.data,
            env={**os.environ, "COSIFT_ADMIN_KEY": KEY},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        found = None
        while found is None:
            line = self._process.stdout.readline()
            assert line, "the service did not start"
            found = re.match(r"listening on (\S+)", line)
        self.url = found[1]

    def stop(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        self._process.communicate()

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.data)
