"""A store on several servers, with calls that wait."""

from __future__ import annotations

from typing import Iterable, Union

from falafel._arguments import names_of
from falafel._declarations import ffi
from falafel._operations import lib
from falafel._waiting import Functions, WaitingCalls, metrics_text, native_options


class Cluster(WaitingCalls):
    """Connections to several servers. Threads may share them.

        with falafel.Cluster(["10.0.0.1", "10.0.0.2"], fabric="verbs") as cluster:
            cluster.set("greeting", b"hello")

    Each key belongs to one of the servers. All clients must name the same ones, in any order, or
    take the list from etcd: Cluster(etcd="10.0.0.9:2379"). Other options are those of Store. While
    the server of a key is away, or the key moves to another one, operations on it raise Error with
    Status.DISCONNECTED.
    """

    _functions = Functions(get=lib.falafel_cluster_get, set=lib.falafel_cluster_set,
                           compare_and_set=lib.falafel_cluster_compare_and_set,
                           delete=lib.falafel_cluster_delete, execute=lib.falafel_cluster_execute,
                           for_each_key=lib.falafel_cluster_for_each_key,
                           submit=lib.falafel_cluster_submit, poll=lib.falafel_cluster_poll,
                           poll_descriptor=lib.falafel_cluster_poll_descriptor,
                           close=lib.falafel_cluster_close)

    def __init__(self, servers: Iterable[str] = (), **options: Union[str, int, bool]) -> None:
        names = [ffi.new("char[]", name) for name in names_of(servers)]
        self._take_opened(
            "falafel_cluster**", lambda handle, message, length: lib.falafel_cluster_open(
                names, len(names), native_options(options), handle, message, length))

    def metrics(self) -> str:
        """Returns the metrics of each server that was ever reached, in the text format of
        Prometheus."""
        with self._call() as handle:
            return metrics_text(lambda text: lib.falafel_cluster_metrics(handle, text))
