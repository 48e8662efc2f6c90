"""The conformance kit: any backend held against the standard.

- model          a case: a call, and what must come of it
- cases/         what is tried, one file for each category; statuses, promotion and worked examples
- oracle, functions, bounds, ...           what is true, in exact arithmetic, and how exactly
- tensors        the oracle's values as data, and back
- judge, answers, checks, checks_*         whether an answer is right
- subjects/      what runs in the process of a subject; frameworks/ has their adapters
- process, local, backends                 a subject, in its own process or here, by its title
- running, check                           the run
- results, levels, deviations              what came of it
- summary, render, report_*, comparing, reproduction   how it is told
- frozen         cases as files, with hashes
- plugin, suite  the same cases in pytest
- header, prototypes                       the C side of the standard

`check.check` runs it; `Data` and `Unsupported` are what an adapter needs.
"""

from __future__ import annotations

from suanzi.conformance.subjects.wire import Data, Unsupported

__all__ = ["Data", "Unsupported"]
