"""Command line of the toy paper."""

import sys

from common.cli import main

sys.exit(main("toy"))
