"""The subcommands of `passlens`: parsed arguments in, printed text or JSON out, exit status back.

Exit status: 0 done; 1 a check failed; 2 bad input or usage; 70 a bug of ours.
"""

from __future__ import annotations

DONE, CHECK_FAILED, BAD_INPUT, OUR_BUG = 0, 1, 2, 70
