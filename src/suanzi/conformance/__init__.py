"""The conformance kit: tests any backend against the standard.

From the lowest layer to the highest:

- subjects/wire  what goes between the kit and a subject: `Data`, `Unsupported`
- model/         exact numbers, tensors as data, cases, results
- truth/         what is true, in exact arithmetic, and how near an answer must be
- judging/       whether an answer is right
- cases/         what is tried, one file for each category; statuses, promotion, worked examples;
                 frozen ones, as files with hashes
- subjects/      what runs in the process of a subject; frameworks/ has their adapters
- header         the C side of the standard
- reports/       levels, known deviations, and the formats of reports
- running/       subjects in processes of their own, the run, something to paste for a case
- check          the run from Python; plugin and suite: the same cases in pytest

`check.check` runs it; `Data` and `Unsupported` are what an adapter needs.
"""

from __future__ import annotations

from suanzi.conformance.subjects.wire import Data, Unsupported

__all__ = ["Data", "Unsupported"]
