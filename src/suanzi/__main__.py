"""``python -m suanzi``: the command ``suanzi``."""

import sys

from suanzi.front.cli import main

if __name__ == "__main__":
    sys.exit(main())
