"""The parts of the documentation that are generated: from the registry, the standard's data, the
errata and the rule sets.

fragments   what stands in written pages, where tools/write_docs.py puts it
operators   the reference: a page per category, all interfaces, the minimal set
proposals   the errata that results depend on, as proposals to the working group
speed       the tables of speed, from what benchmarks/all.py wrote
gpu         the tables of a GPU's speed, from what benchmarks/accelerators.py wrote
words       what is said in English and in Chinese; zh/, the catalogues
markdown    small helpers
"""
