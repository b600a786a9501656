"""Command line of this paper: ``python -m mvabo --help``."""

import sys

from fivebo.common.cli import main

sys.exit(main("mvabo"))
