"""Command line of this paper: ``python -m egpbo --help``."""

import sys

from fivebo.common.cli import main

sys.exit(main("egpbo"))
