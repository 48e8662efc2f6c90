"""Nothing of blame runs on a device while a graph is captured there: with a double on the CPU."""

from __future__ import annotations

from pathlib import Path

from tests.validate.blame.test_planted import run

CAPTURED = "captured in a CUDA graph"


def test_nothing_runs_while_a_graph_is_captured(tmp_path: Path) -> None:
    found = run("graphs.py", str(tmp_path / "run.sz"))
    watched = found["watched"]
    after = watched.pop("after")
    others, counted, notes, replay = found["begun"]
    for name, (same, judged, why, answer) in watched.items():
        assert (same, judged, why, answer) == (True, 0, [CAPTURED], "not judged"), name
    assert after[:3] == [False, True, "right"]
    assert f"not judged: {CAPTURED}" in after[3]
    # Captures of other threads, one that fails, and replays.
    assert others == ["cos", "exp", "sin"]
    assert counted == {CAPTURED: 1}
    assert notes == {"replays of CUDA graphs were not seen": 2}
    assert replay == "Graph.replay"
