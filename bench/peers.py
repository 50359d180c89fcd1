"""Other tools that limpet is measured beside: some are not packaged for every machine."""

import shutil
import sys


def tell_missing(*names):
    """Names on stderr those that are not installed: a benchmark goes on without them."""
    for name in names:
        if not shutil.which(name):
            print(f"bench: {name} is not installed: left out", file=sys.stderr)
