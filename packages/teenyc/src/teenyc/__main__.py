"""`python -m teenyc`: the same command."""

import sys

from teenyc.cli import main

sys.exit(main())
