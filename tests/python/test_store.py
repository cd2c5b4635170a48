import array
import pathlib
import subprocess
import sys
import time
import typing

import falafel
import pytest
from falafel import PINNED, Error, Status, Store


@pytest.fixture
def store(options):
    with Store(**options) as opened:
        yield opened


def test_values_are_stored_found_and_deleted(store):
    assert store.get("key") is None
    store.set("key", b"a\0b")
    assert store.get("key") == b"a\0b"
    assert store.get(b"key") == b"a\0b"
    store.set("key", b"")
    assert store.get("key") == b""
    assert store.delete("key") is True
    assert store.delete("key") is False


def test_metrics_are_counted_and_added_up(store, options):
    store.set("key", b"1")
    store.get("key")
    store.get_many(["key", "nothing"])
    text = store.metrics()
    assert 'operation="get",outcome="found"} 2\n' in text
    assert 'operation="get",outcome="not_found"} 1\n' in text
    with Store(**options) as other:
        other.get("key")
        text = falafel.metrics([store, other])
    assert 'operation="get",outcome="found"} 3\n' in text
    with pytest.raises(ValueError):
        other.metrics()


def test_all_keys_are_listed(store):
    assert store.keys() == {}
    store.set_many((f"key {number}", b"1") for number in range(500))
    store.delete("key 7")
    assert store.keys() == {f"key {number}".encode(): 0 for number in range(500) if number != 7}


def test_keys_are_listed_with_their_times_to_live(cache_options):
    with Store(**cache_options) as cache:
        cache.set("soon", b"1", time_to_live=1000)
        cache.set("never", b"1")
        keys = cache.keys()
        assert set(keys) == {b"soon", b"never"}
        assert 900 < keys[b"soon"] <= 1000
        assert keys[b"never"] == 0


def test_pinned_values_stay_pinned_until_a_set_says_otherwise(cache_options):
    with Store(**cache_options) as cache:
        cache.set("pinned", b"1", time_to_live=PINNED)
        cache.set_many({"one": b"1", "two": b"1"}, time_to_live=PINNED)
        assert cache.keys() == {b"pinned": PINNED, b"one": PINNED, b"two": PINNED}
        assert cache.compare_and_set("pinned", b"1", b"2")
        assert cache.compare_and_set("one", b"1", b"2", time_to_live=0)
        cache.set("two", b"2")
        assert cache.keys() == {b"pinned": PINNED, b"one": 0, b"two": 0}
        assert cache.compare_and_set("one", b"2", b"3", time_to_live=PINNED)
        assert cache.keys()[b"one"] == PINNED


def test_an_exception_while_keys_are_listed_leaves_the_call(store, monkeypatch):
    class FailingFfi:
        def __getattr__(self, name):
            return getattr(ffi, name)

        def buffer(self, *arguments):
            raise MemoryError("for the key")

    store.set_many({"one": b"1", "two": b"2"})
    ffi = falafel._waiting.ffi
    monkeypatch.setattr(falafel._waiting, "ffi", FailingFfi())
    with pytest.raises(MemoryError, match="for the key"):
        store.keys()
    monkeypatch.undo()
    assert set(store.keys()) == {b"one", b"two"}


def test_keys_of_text_are_utf_8(store):
    store.set("Käse", b"1")
    assert store.get("Käse".encode()) == b"1"


@pytest.mark.parametrize("make", [
    bytes, bytearray, memoryview, lambda data: memoryview(bytearray(data)),
    lambda data: memoryview(b"xx" + data)[2:], lambda data: array.array("B", data),
])
def test_values_are_any_buffer(store, make):
    store.set("key", make(b"12345678"))
    assert store.get("key") == b"12345678"
    store.set_many({"key": make(b"abc")})
    assert store.get("key") == b"abc"


def test_values_must_be_contiguous_buffers(store):
    with pytest.raises(TypeError):
        store.set("key", "text")
    with pytest.raises((BufferError, ValueError)):
        store.set("key", memoryview(b"123456")[::2])


def test_get_into_writes_to_the_buffer(store):
    store.set("key", b"value")
    buffer = bytearray(b"--------")
    assert store.get_into("key", memoryview(buffer)[1:]) == 5
    assert buffer == b"-value--"
    assert store.get_into("nothing", buffer) is None
    with pytest.raises(Error) as failed:
        store.get_into("key", bytearray(4))
    assert failed.value.status == Status.BUFFER_TOO_SMALL
    with pytest.raises((TypeError, BufferError)):
        store.get_into("key", b"read-only")


def test_many_keep_their_order(store):
    values = {f"key {number}": str(number).encode() for number in range(1000)}
    store.set_many(values)
    assert store.get_many(list(values) + ["nothing"]) == [*values.values(), None]
    assert store.get_many([]) == []
    store.set_many([("pair", b"1")])
    assert store.get("pair") == b"1"
    assert store.delete_many(["pair", "nothing", *values]) == 1001
    assert store.get_many(["pair", "key 7"]) == [None, None]


def test_errors_name_the_key_and_the_reason(store):
    with pytest.raises(Error, match="set 'large': the value is too large") as failed:
        store.set("large", bytes(2 << 20))
    assert (failed.value.status, failed.value.key) == (Status.VALUE_TOO_LARGE, "large")
    with pytest.raises(Error, match="set 'large'"):
        store.set_many({"small": b"1", "large": bytes(2 << 20)})
    assert store.get("small") == b"1"
    for call in (store.get, store.delete, lambda key: store.get_many(["small", key])):
        with pytest.raises(Error, match="invalid argument"):
            call("")


def test_opening_explains_what_is_wrong(server):
    with pytest.raises(Error, match="no server named 'nobody'") as failed:
        Store("nobody", directory=server.directory)
    assert failed.value.status == Status.NO_SERVER
    with pytest.raises(Error, match="there is no option 'fabrik'"):
        Store(fabrik="shm")
    with pytest.raises(Error, match="option 'port': '-1' is not a number"):
        Store(port=-1)


def test_a_closed_store_refuses(options):
    store = Store(huge_pages=False, **options)
    store.close()
    store.close()
    with pytest.raises(ValueError, match="closed"):
        store.get("key")


def test_a_restarted_server_is_empty(server, store):
    store.set("key", b"1")
    before = store.server_incarnation
    assert store.is_connected
    server.stop()
    with pytest.raises(Error) as failed:
        store.get_many(["key"])
    assert failed.value.status == Status.DISCONNECTED
    server.start()
    assert store.get("key") is None
    assert store.server_incarnation != before


def test_statuses_are_those_of_the_library():
    from falafel._operations import lib
    names = {name.removeprefix("FALAFEL_"): getattr(lib, name) for name in dir(lib)
             if name.startswith("FALAFEL_")}
    kinds = {name: names.pop(name)
             for name in ("GET", "SET", "DELETE", "SET_EXPIRING", "GET_INTO")}
    assert kinds == {"GET": 1, "SET": 2, "DELETE": 3, "SET_EXPIRING": 4, "GET_INTO": 5}
    assert names == {status.name: status.value for status in Status}


def test_public_functions_have_type_hints():
    assert (pathlib.Path(falafel.__file__).parent / "py.typed").exists()
    for kind in (falafel.Store, falafel.AsyncStore):
        for name, member in vars(kind).items():
            if callable(member) and not name.startswith("_"):
                assert "return" in typing.get_type_hints(member), name


def test_the_example_runs(server):
    example = pathlib.Path(__file__).parents[2] / "client/python/example/example.py"
    completed = subprocess.run([sys.executable, example, server.directory], capture_output=True,
                               text=True)
    assert completed.returncode == 0, completed.stderr
    assert completed.stdout.splitlines()[0] == "greeting: hello"


def test_only_a_cache_has_times_to_live(store):
    with pytest.raises(Error) as failed:
        store.set("key", b"1", time_to_live=0.5)
    assert failed.value.status == Status.NOT_A_CACHE
    with pytest.raises(Error) as failed:
        store.set_many({"key": b"1"}, time_to_live=0.5)
    assert failed.value.status == Status.NOT_A_CACHE
    assert store.get("key") is None


def test_compares_and_sets(store):
    assert not store.compare_and_set("key", b"1", b"2")
    assert store.compare_and_set("key", None, b"1")
    assert not store.compare_and_set("key", None, b"2")
    assert store.compare_and_set("key", b"1", b"")
    assert store.compare_and_set("key", b"", b"3", time_to_live=0)
    assert store.get("key") == b"3"
    with pytest.raises(Error) as failed:
        store.compare_and_set("key", b"3", b"4", time_to_live=0.5)
    assert failed.value.status == Status.NOT_A_CACHE
    with pytest.raises(TypeError):
        store.compare_and_set("key", 3, b"4")


def test_values_of_a_cache_expire(cache_options):
    with Store(**cache_options) as cache:
        cache.set("short", b"1", time_to_live=0.05)
        cache.set_many({"short 1": b"1", "short 2": b"2"}, time_to_live=0.05)
        cache.set_many({"kept 1": b"1", "kept 2": b"2"})
        time.sleep(0.06)
        assert cache.get_many(["short", "short 1", "short 2"]) == [None, None, None]
        assert cache.get_many(["kept 1", "kept 2"]) == [b"1", b"2"]
