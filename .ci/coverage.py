"""What the tests ran of the code, from SlipCover's JSON file: in all, and the files with least.

What runs in worker processes is not seen.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

SHOWN = 20

coverage = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
files = {name: about["summary"] for name, about in coverage["files"].items()}
least = sorted(files, key=lambda name: (files[name]["percent_covered"], name))[:SHOWN]
print(f"coverage: of {len(files)} files the {SHOWN} least run; worker processes are not seen")
for name in least:
    about = files[name]
    print(f"{about['percent_covered']:5.0f} %  {about['missing_lines']:4d} lines not run  {name}")
print(f"coverage: {coverage['summary']['percent_covered']:.1f} % of all lines")
