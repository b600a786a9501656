"""Command line of the toy paper."""

import sys

from fivebo.common.cli import main

sys.exit(main("toy"))
