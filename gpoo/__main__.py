"""Command line of this paper: ``python -m gpoo --help``."""

import sys

from fivebo.common.cli import main

sys.exit(main("gpoo"))
