"""Side by side with other tools; see README.md here."""

import os

# For this process and those it starts: from 1.29 on, ONNX Runtime reports usage to its maker.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
