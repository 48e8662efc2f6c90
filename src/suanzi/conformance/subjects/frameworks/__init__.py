"""Adapters of frameworks; each runs in an interpreter that has the framework, without suanzi."""
