"""How much isl may count, and what is said where it runs out."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import islpy as isl

from optimizer.errors import StudioError

MOST_OPERATIONS = 20_000_000
"""Of isl for one question: some seconds."""


class NotFollowed(StudioError):
    """A nest that is not affine, or one that isl cannot settle in time; says why."""


@contextmanager
def counted(most: int = MOST_OPERATIONS) -> Generator[None, None, None]:
    """Let isl count so many of its operations, and no more.

    Raises:
        NotFollowed: it would need more.
    """
    context = isl.DEFAULT_CONTEXT
    context.reset_operations()
    context.set_max_operations(most)
    try:
        yield
    except isl.Error as error:
        if "operations exceeded" not in str(error):
            raise
        raise NotFollowed(
            f"isl could not settle these loops within {most:,} operations: smaller sizes, fewer "
            "splits or fewer stages may help."
        ) from error
    finally:
        context.set_max_operations(0)
        context.reset_operations()
