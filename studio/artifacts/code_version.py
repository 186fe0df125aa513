"""Which state of the code wrote something into the store.

While a pass is being written, what its earlier versions did must not be found again.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
CODE = ("optimizer", "studio/graphview", "studio/artifacts/jobs.py", "studio/memory")
"""What decides about the contents of the store."""


@lru_cache(maxsize=1)
def code_version() -> str:
    """Eight hex digits over names, sizes and times of the files in `CODE`."""
    digest = hashlib.sha256()
    for place in CODE:
        path = ROOT / place
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            mark = file.stat()
            digest.update(f"{file.relative_to(ROOT)} {mark.st_size} {mark.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:8]
