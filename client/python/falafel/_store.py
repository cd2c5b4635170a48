"""A store on one server, with calls that wait."""

from __future__ import annotations

import contextlib
from typing import Iterable, Union

from falafel._arguments import name_bytes_of
from falafel._operations import lib
from falafel._waiting import Functions, WaitingCalls, metrics_text, native_options


class Store(WaitingCalls):
    """A connection to a server. Threads may share it.

    Options are those of the C interface (docs/library.md), such as fabric="verbs" or
    max_operations_in_flight=64.
    """

    _functions = Functions(get=lib.falafel_get, set=lib.falafel_set_expiring,
                           compare_and_set=lib.falafel_compare_and_set,
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
