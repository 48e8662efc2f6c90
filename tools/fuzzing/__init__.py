"""The parts of tools/fuzz.py: random calls, what they must agree with, and how they are shrunk."""
