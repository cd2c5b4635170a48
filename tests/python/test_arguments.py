"""Arguments of the wrong kind are refused before anything is done, with what to pass instead."""

import asyncio
import datetime

import falafel
import pytest
from falafel import AsyncStore, Cluster, Store

from conftest import Server


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    running = Server(str(tmp_path_factory.mktemp("falafel")))
    yield running.directory
    running.stop()


@pytest.fixture
def store(directory):
    with Store(directory=directory) as opened:
        yield opened


LONG_TEXT = "x" * 1000

WRONG_CALLS = [
    # Values are bytes.
    (lambda store: store.set("k", "v"), TypeError, "the value of 'k' is the text 'v'; pass bytes"),
    (lambda store: store.set_many({"k": "v"}), TypeError, "the value of 'k' is the text 'v'"),
    (lambda store: store.set("k", LONG_TEXT), TypeError, r"the text 'x{40}\.\.\.'; pass bytes"),
    (lambda store: store.set("k", None), TypeError, r"the value of 'k' is None; .* delete\(\)"),
    (lambda store: store.set("k", 7), TypeError, "the value of 'k' is of type int; pass bytes"),
    # Keys are texts or bytes.
    (lambda store: store.get(None), TypeError, "the key is None; pass a text or bytes"),
    (lambda store: store.set(None, b"v"), TypeError, "the key is None"),
    (lambda store: store.delete(7), TypeError, "the key is of type int"),
    (lambda store: store.get_into(None, bytearray(1)), TypeError, "the key is None"),
    (lambda store: store.get_many(["k", None]), TypeError, "the key is None"),
    # Lists are not texts.
    (lambda store: store.get_many("key"), TypeError, "keys is the text 'key'; pass a list of keys"),
    (lambda store: store.get_many(b"key"), TypeError, "keys is of type bytes; pass a list of keys"),
    (lambda store: store.get_many(None), TypeError, "keys is None; pass a list of keys"),
    (lambda store: store.delete_many("key"), TypeError, "keys is the text 'key'"),
    (lambda store: store.set_many("ab"), TypeError, "values is the text 'ab'; pass a dictionary"),
    (lambda store: store.set_many(None), TypeError, "values is None; pass a dictionary"),
    (lambda store: store.set_many(["ab"]), TypeError, "values has of type str; pass a dictionary"),
    (lambda store: store.set_many([("k", b"v", 1)]), TypeError, "values has of type tuple"),
    (lambda store: falafel.metrics(store), TypeError, "pass a list of stores"),
    # Times to live.
    (lambda store: store.set("k", b"v", -1), ValueError, "time_to_live is -1 seconds; pass 0"),
    (lambda store: store.set("k", b"v", 1e300), ValueError, r"time_to_live is 1e\+300 seconds"),
    (lambda store: store.set("k", b"v", float("nan")), ValueError, "time_to_live is nan seconds"),
    (lambda store: store.set("k", b"v", float("-inf")), ValueError, "time_to_live is -inf seconds"),
    (lambda store: store.set("k", b"v", 1e-12), ValueError, "time_to_live is 1e-12 seconds"),
    (lambda store: store.set("k", b"v", None), TypeError, "time_to_live is None; pass a number"),
    (lambda store: store.set("k", b"v", "1"), TypeError, "time_to_live is of type str"),
    (lambda store: store.set("k", b"v", datetime.timedelta(1)), TypeError, "number of seconds"),
    (lambda store: store.set_many({"k": b"v"}, -1), ValueError, "time_to_live is -1 seconds"),
]


@pytest.mark.parametrize("call, kind, message", WRONG_CALLS)
def test_wrong_arguments_say_what_to_pass(store, call, kind, message):
    with pytest.raises(kind, match=message):
        call(store)
    assert store.keys() == {}


@pytest.mark.parametrize("open_it, kind, message", [
    (lambda: Store("a\0b"), ValueError, r"the name of the server 'a\\x00b' has a zero byte"),
    (lambda: Store(None), TypeError, "the name of the server is None; pass a text"),
    (lambda: Store(["a"]), TypeError, "the name of the server is of type list"),
    (lambda: Store(device="mlx\0"), ValueError, "option 'device' has a zero byte"),
    (lambda: Store(device=None), TypeError, "option 'device' is None; .* or leave it out"),
    (lambda: Store(directory=b"/tmp"), TypeError, "option 'directory' is of type bytes"),
    (lambda: Cluster("one"), TypeError, "servers is the text 'one'; pass a list of names"),
    (lambda: Cluster(None), TypeError, "servers is None; pass a list of names"),
    (lambda: Cluster(["one", None]), TypeError, "the name of the server is None"),
    (lambda: Cluster(["one", "t\0wo"]), ValueError, "has a zero byte"),
])
def test_wrong_names_and_options_open_nothing(open_it, kind, message):
    with pytest.raises(kind, match=message):
        open_it()


def test_the_asynchronous_store_explains_the_same(directory):
    async def use():
        async with AsyncStore(directory=directory) as store:
            with pytest.raises(TypeError, match="the value of 'k' is the text 'v'; pass bytes"):
                await store.set("k", "v")
            with pytest.raises(TypeError, match="keys is the text 'key'; pass a list of keys"):
                await store.get_many("key")
            with pytest.raises(ValueError, match="time_to_live is -1 seconds"):
                await store.set("k", b"v", -1)
            assert await store.get("k") is None
    asyncio.run(use())
