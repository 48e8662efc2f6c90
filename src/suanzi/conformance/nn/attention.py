"""PLACEHOLDER attention: cases."""
