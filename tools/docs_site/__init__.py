"""The parts of the documentation that are made, not written: from the registry, the standard's
data, the errata and the rule sets, each time the site is built.

operators   the reference: a page per category, the index of all interfaces, the minimal set
fragments   what stands in written pages where they say ``<!-- made: NAME -->``
markdown    small helpers
hook        what mkdocs calls; the only file that knows it
"""
