"""Command line of this paper: ``python -m classify_dfo --help``."""

import sys

from fivebo.common.cli import main

sys.exit(main("classify_dfo"))
