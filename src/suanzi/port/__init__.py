"""What changes when a program moves to another framework: its calls, judged by the rule sets.

``operators``  which of a framework's operators promote, from the table of names
``readers``    what reads calls that others recorded
``models``     models in files, which promote nothing: ONNX, OpenVINO IR
``opening``    which reader a file is for
``support``    which dtypes a target's operators take, by chip, from the texts in ``dtypes``
``given``      which calls of a program a target is compared with
``passes``     a call by itself, and what it computes with after the calls before it changed
``findings``   what was found, with a code; what is marked is left out
``report``     findings in the form in which they are shown
``page``       a report as an HTML file
``running``    a program in another process, or a block of this one
"""

from suanzi.port.findings import Finding
from suanzi.port.readers.dumps import read_exported
from suanzi.port.report import Report, judge
from suanzi.port.running import run_program, trace
from suanzi.port.under_autocast import explain_autocast
from suanzi.recording.calls import Call, Calls, read_calls

__all__ = [
    "Call",
    "Calls",
    "Finding",
    "Report",
    "explain_autocast",
    "judge",
    "read_calls",
    "read_exported",
    "run_program",
    "trace",
]
