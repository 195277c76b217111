"""Ctrl-C that is heard whenever it comes: while all is imported, within compiled code, and when the work is done."""

from __future__ import annotations

import os
import signal
import sys
import threading
from types import FrameType
from typing import Any

INTERRUPTED = 130  # the exit code
NOTHING_DONE = "interrupted; nothing was written"
AGAIN = 3.0  # seconds: longer than it takes to clean up
SOON = 0.02  # seconds: when nothing is cleaned up, since Python has said that it was swallowed

_ours = False
_next: threading.Timer | None = None


def take() -> None:
    """Take care of Ctrl-C, unless someone else does; until a command begins it ends the program at once."""
    global _ours
    _ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    _handle(_end)


def begin() -> None:
    """Have Ctrl-C raise KeyboardInterrupt, so that a command cleans up.

    Compiled code and callbacks swallow that now and then, so it comes again until :func:`heard` is called. Whoever is
    impatient and presses the keys twice does not disturb the cleaning up.
    """
    _handle(_interrupt)
    if _ours:
        sys.unraisablehook = _swallowed


def check() -> None:
    """Raise it if it came and was not heard yet, before something is written that nobody wants any more."""
    if came():
        raise KeyboardInterrupt


def came() -> bool:
    """Say whether Ctrl-C came and was not heard yet: compiled code makes other errors of it now and then."""
    return _next is not None


def heard() -> None:
    """Send it no more; from now on, it ends the program without a word."""
    global _next
    _handle(_end_quietly)
    if _next is not None:
        _next.cancel()
        _next = None


def done() -> None:
    """Ignore Ctrl-C: nothing is left but Python's own end, which it would turn into a death by the signal."""
    _handle(signal.SIG_IGN)


def _handle(handler: Any) -> None:
    if _ours:
        signal.signal(signal.SIGINT, handler)


def _end(number: int, frame: FrameType | None) -> None:
    try:
        os.write(2, f"besvm: {NOTHING_DONE}\n".encode())
    finally:
        os._exit(INTERRUPTED)


def _end_quietly(number: int, frame: FrameType | None) -> None:
    os._exit(INTERRUPTED)


def _interrupt(number: int, frame: FrameType | None) -> None:
    if _next is None:
        _send_in(AGAIN)
        raise KeyboardInterrupt


def _swallowed(about: Any) -> None:
    """Send it again if a callback has swallowed it; what else cannot be raised is shown as always."""
    if _next is None or not issubclass(about.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(about)
        return
    _next.cancel()
    _send_in(SOON)


def _send_in(seconds: float) -> None:
    global _next
    _next = threading.Timer(seconds, _send_again)
    _next.daemon = True
    _next.start()


def _send_again() -> None:
    global _next
    _next = None
    os.kill(os.getpid(), signal.SIGINT)
