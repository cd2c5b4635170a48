"""A store on one server, with calls that wait."""

from __future__ import annotations

import contextlib
from typing import Iterable, Optional, Union

from falafel._arguments import Buffer, Key, name_bytes_of, nanoseconds_of
from falafel._declarations import ffi
from falafel._operations import Status, error_of, key_bytes_of, lib, value_bytes_of
from falafel._waiting import Functions, WaitingCalls, metrics_text, native_options


_KEEP_EXPIRY = 2**64 - 1  # FALAFEL_KEEP_EXPIRY, which is a macro


class Store(WaitingCalls):
    """A connection to a server. Threads may share it.

    Options are those of the C interface (docs/library.md), such as fabric="verbs" or
    max_operations_in_flight=64.
    """

    _functions = Functions(get=lib.falafel_get, set=lib.falafel_set_expiring,
                           delete=lib.falafel_delete, execute=lib.falafel_execute,
                           for_each_key=lib.falafel_for_each_key, submit=lib.falafel_submit,
                           poll=lib.falafel_poll, poll_descriptor=lib.falafel_poll_descriptor,
                           close=lib.falafel_close)

    def __init__(self, server: str = "falafel", **options: Union[str, int, bool]) -> None:
        name = name_bytes_of(server)
        self._take_opened("falafel_store**", lambda handle, message, length: lib.falafel_open(
            name, native_options(options), handle, message, length))

    @property
    def is_connected(self) -> bool:
        """Returns whether the connection was intact at its last use."""
        with self._call() as handle:
            return bool(lib.falafel_is_connected(handle))

    @property
    def server_incarnation(self) -> int:
        """Changes if the server has restarted and was empty."""
        with self._call() as handle:
            return int(lib.falafel_server_incarnation(handle))

    def compare_and_set(self, key: Key, expected: Optional[Buffer], value: Buffer,
                        time_to_live: Optional[float] = None) -> bool:
        """Stores the value if the key has the expected one (None: if it is absent), and returns
        whether it did. One atomic operation: of several clients that expect the same value, one
        stores its own. In a cache, the new value expires after `time_to_live` seconds (0: never),
        or when the present one would have."""
        key_bytes, value_bytes = key_bytes_of(key), value_bytes_of(key, value)
        expected_bytes = ffi.NULL if expected is None else value_bytes_of(key, expected)
        expected_length = 0 if expected is None else len(expected_bytes)
        lives_ns = _KEEP_EXPIRY if time_to_live is None else nanoseconds_of(time_to_live)
        with self._call() as handle:
            status = lib.falafel_compare_and_set(
                handle, key_bytes, len(key_bytes), expected_bytes, expected_length, value_bytes,
                len(value_bytes), lives_ns)
        if status not in (Status.OK, Status.DIFFERS):
            raise error_of("compare_and_set", key, status)
        return bool(status == Status.OK)

    def metrics(self) -> str:
        """Returns this store's metrics in the text format of Prometheus."""
        return metrics([self])


def metrics(stores: Iterable[Store]) -> str:
    """Returns the metrics of these stores in the text format of Prometheus (version 0.0.4). Stores
    of one server are added up, so a program with several stores should export them together."""
    if isinstance(stores, Store):
        raise TypeError("stores is one store; pass a list of stores")
    stores = list(stores)  # so that none is collected during the call
    with contextlib.ExitStack() as calls:
        handles = [calls.enter_context(store._call()) for store in stores]
        return metrics_text(lambda text: lib.falafel_metrics(handles, len(handles), text))
