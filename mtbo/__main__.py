"""Command line of this paper: ``python -m mtbo --help``."""

import sys

from fivebo.common.cli import main

sys.exit(main("mtbo"))
