"""A handle of the library, with the calls that use it."""

from __future__ import annotations

import threading
from threading import get_ident
from types import TracebackType
from typing import Any, Callable, List, Optional, Type


class Handle:
    """Closes the handle only when no call uses it.

        with handle as native:
            lib.falafel_get(native, ...)

    The block raises ValueError if the handle is closed, and when it ends if another thread has
    closed it meanwhile.
    """

    def __init__(self, native: Any, close: Callable[[Any], None]) -> None:
        self._native = native
        self._close = close
        # Calls take no lock, because it would cost as much as a GET. A call enters the list before
        # it looks at the mark, and close() sets the mark before it looks at the list, so one of
        # them notices the other. The interpreter makes each of these steps atomic.
        self._callers: List[int] = []  # the thread of each running call
        self._is_closed = False
        # Reentrant, because a signal handler may interrupt its holder and close the same handle.
        self._call_ended = threading.Condition(threading.RLock())

    def __enter__(self) -> Any:
        self._callers.append(get_ident())
        if self._is_closed:
            self._callers.remove(get_ident())
            self._tell_closer()
            raise ValueError("the store is closed")
        return self._native

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 traceback: Optional[TracebackType]) -> None:
        self._callers.remove(get_ident())
        if self._is_closed:
            self._tell_closer()
            if error is None:
                raise ValueError("the store was closed during the call")

    def _tell_closer(self) -> None:
        with self._call_ended:
            self._call_ended.notify_all()

    def close(self) -> None:
        """Returns when no call is running, at once if the handle has been closed before."""
        if get_ident() in self._callers:
            raise RuntimeError("a call of this thread is running; close the store after it")
        with self._call_ended:
            is_closed_before, self._is_closed = self._is_closed, True
            self._call_ended.wait_for(lambda: not self._callers)
        if not is_closed_before:
            self._close(self._native)
