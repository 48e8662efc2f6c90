"""Subjects, in processes of their own, and the run over them."""
