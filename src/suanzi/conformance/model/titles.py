"""What a subject is called in reports, and the options of `suanzi check` that ask for it."""

from __future__ import annotations

_ON = "suanzi on "


def on_device(device: str) -> str:
    """Return what suanzi is called on a device.

    >>> on_device("cluster")
    'suanzi on cluster'
    """
    return _ON + device


def options_of(title: str) -> list[str]:
    """Return the options that ask for a subject again.

    >>> options_of("suanzi"), options_of("torch"), options_of("suanzi on cluster")
    ([], ['--backend', 'torch'], ['--device', 'cluster'])
    """
    if title.startswith(_ON):
        return ["--device", title.removeprefix(_ON)]
    return [] if title == "suanzi" else ["--backend", title]
