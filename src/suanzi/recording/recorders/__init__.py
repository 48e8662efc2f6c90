"""What records the calls of a program, in the process of its framework, without suanzi."""

from pathlib import Path

HOME = Path(__file__).parent
"""The folder, from which a recorder is started as a script."""
