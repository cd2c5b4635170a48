"""Closing a store or cluster while other threads use it."""

import queue
import signal
import threading
import time

import pytest
from falafel import Cluster, Store

HANG_SECONDS = 60


class Caller(threading.Thread):
    """Calls the function until it raises."""

    def __init__(self, function):
        super().__init__(daemon=True)
        self.function = function
        self.started = threading.Event()
        self.raised = queue.Queue()
        self.start()

    def run(self):
        try:
            while True:
                self.function()
                self.started.set()
        except BaseException as error:
            self.raised.put(error)

    def error(self):
        return self.raised.get(timeout=HANG_SECONDS)


@pytest.fixture(params=["store", "cluster"])
def opened(request, options):
    return Store(**options) if request.param == "store" else Cluster(["falafel"], **options)


CALLS = [
    lambda store: store.get("key"),
    lambda store: store.set("key", b"value"),
    lambda store: store.delete("key"),
    lambda store: store.get_many(["key", "other"]),
    lambda store: store.set_many({"key": b"value"}),
    lambda store: store.delete_many(["key"]),
    lambda store: store.metrics(),
]


def test_calls_of_other_threads_raise(opened):
    callers = [Caller(lambda call=call: call(opened)) for call in CALLS]
    for caller in callers:
        assert caller.started.wait(HANG_SECONDS)
    opened.close()
    for caller in callers:
        with pytest.raises(ValueError, match="closed"):
            raise caller.error()


def wait_until(condition):
    deadline = time.monotonic() + HANG_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def test_a_call_that_is_running_raises(server, options):
    """The first SET waits for memory from the server's process, which is stopped."""
    store = Store(**options)
    server.process.send_signal(signal.SIGSTOP)
    caller = Caller(lambda: store.set("key", b"value"))
    wait_until(lambda: store._handle._callers)
    closer = threading.Thread(target=store.close, daemon=True)
    closer.start()
    wait_until(lambda: store._handle._is_closed)
    server.process.send_signal(signal.SIGCONT)
    with pytest.raises(ValueError, match="was closed during the call"):
        raise caller.error()
    closer.join(HANG_SECONDS)
    assert not closer.is_alive()


def test_several_threads_close(opened):
    closers = [threading.Thread(target=opened.close, daemon=True) for _ in range(8)]
    for closer in closers:
        closer.start()
    for closer in closers:
        closer.join(HANG_SECONDS)
        assert not closer.is_alive()
    with pytest.raises(ValueError, match="closed"):
        opened.get("key")


def test_a_call_cannot_close_what_it_uses(options):
    store = Store(**options)
    with store._handle:
        with pytest.raises(RuntimeError, match="a call of this thread is running"):
            store.close()
    assert store.get("key") is None
    store.close()
