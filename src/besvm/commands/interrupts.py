"""Ctrl-C that is heard: compiled code and callbacks swallow an interrupt now and then, so it comes again till then."""

from __future__ import annotations

import os
import signal
import threading
from typing import Any

AGAIN = 3.0  # seconds: longer than it takes to clean up
_next: threading.Timer | None = None


def listen() -> None:
    """Send Ctrl-C again and again until :func:`heard` is called, unless someone else takes care of it."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)


def heard() -> None:
    """Send it no more."""
    if _next is not None:
        _next.cancel()


def _interrupt(number: int, frame: Any) -> None:
    global _next
    heard()
    _next = threading.Timer(AGAIN, os.kill, (os.getpid(), signal.SIGINT))
    _next.daemon = True
    _next.start()
    raise KeyboardInterrupt
