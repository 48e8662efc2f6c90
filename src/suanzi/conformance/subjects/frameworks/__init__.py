"""Adapters of frameworks, each of which runs in an interpreter that has the framework, without suanzi."""
