"""The parts of the documentation that are made, not written: from the registry, the standard's
data, the errata and the rule sets.

fragments   what stands in written pages, where tools/write_docs.py puts it
operators   the reference, made with the site: a page per category, all interfaces, the minimal set
speed       the tables of speed, from what benchmarks/all.py wrote
markdown    small helpers
hook        what mkdocs calls; the only file that knows it
"""
