"""Command line of all papers: ``fivebo --help``, or ``python -m fivebo --help``."""

import sys

from fivebo.common.cli import dispatch

sys.exit(dispatch())
