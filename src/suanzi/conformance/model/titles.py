"""What a subject is called in reports, and the options of `suanzi check` that ask for it."""

from __future__ import annotations

_ON = " on "


def on_device(name: str, device: str) -> str:
    """Return what a subject is called on a device.

    >>> on_device("suanzi", "cluster")
    'suanzi on cluster'
    """
    return name + _ON + device


def options_of(title: str) -> list[str]:
    """Return the options that ask for a subject again.

    >>> options_of("suanzi"), options_of("torch"), options_of("suanzi on cluster")
    ([], ['--backend', 'torch'], ['--device', 'cluster'])
    >>> options_of("torch on cuda:1")
    ['--backend', 'torch', '--device', 'cuda:1']
    """
    name, on, device = title.rpartition(_ON)
    if on and "/" not in device:  # else it is the path of a library
        return [*options_of(name), "--device", device]
    return [] if title == "suanzi" else ["--backend", title]
