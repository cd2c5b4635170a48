import asyncio
import contextlib

import pytest
from falafel import AsyncCluster, Cluster, Error, Status, Store

from conftest import Server

SERVERS = ["one", "two", "three"]
KEYS = [f"key {number}" for number in range(100)]


@pytest.fixture
def servers(tmp_path):
    """By name."""
    with contextlib.ExitStack() as running:
        started = {}
        for name in SERVERS:
            started[name] = Server(str(tmp_path), "--name", name)
            running.callback(started[name].stop)
        yield started


@pytest.fixture
def options(servers):
    return {"directory": servers["one"].directory, "reconnect_interval_ns": 0}


@pytest.fixture
def cluster(options):
    with Cluster(SERVERS, **options) as opened:
        yield opened


def test_values_are_stored_found_and_deleted(cluster):
    assert cluster.get("key") is None
    cluster.set("key", b"a\0b")
    assert cluster.get("key") == b"a\0b"
    buffer = bytearray(8)
    assert cluster.get_into("key", buffer) == 3
    assert cluster.delete("key") is True
    assert cluster.delete("key") is False


def test_each_key_is_at_one_server(cluster, options):
    cluster.set_many((key, key.encode()) for key in KEYS)
    assert cluster.get_many(KEYS) == [key.encode() for key in KEYS]
    found = []
    for name in SERVERS:
        with Store(name, **options) as store:
            found += [value for value in store.get_many(KEYS) if value is not None]
    assert sorted(found) == sorted(key.encode() for key in KEYS)
    assert cluster.delete_many([*KEYS, "nothing"]) == len(KEYS)


def test_compare_and_set(cluster):
    for key in KEYS[:20]:
        assert not cluster.compare_and_set(key, b"1", b"2")
        assert cluster.compare_and_set(key, None, b"1")
        assert cluster.compare_and_set(key, b"1", b"2")
        assert cluster.get(key) == b"2"


def test_a_server_that_is_away_costs_its_keys_only(cluster, servers):
    cluster.set_many((key, b"1") for key in KEYS)
    servers["two"].stop()
    found, lost = 0, 0
    for key in KEYS:
        try:
            found += cluster.get(key) == b"1"
        except Error as error:
            assert error.status == Status.DISCONNECTED
            lost += 1
    assert found > 10 and lost > 10 and found + lost == len(KEYS)
    with pytest.raises(Error):
        cluster.get_many(KEYS)


def test_metrics_tell_the_servers_apart(cluster):
    cluster.set_many((key, b"1") for key in KEYS)
    for name in SERVERS:
        assert f'server="{name}"' in cluster.metrics()


def test_mistakes_are_explained(options):
    with pytest.raises(Error, match="empty") as raised:
        Cluster([], **options)
    assert raised.value.status == Status.INVALID
    with pytest.raises(Error, match="twice"):
        Cluster(["one", "one"], **options)
    with pytest.raises(Error, match="127.0.0.1:1") as raised:
        Cluster(etcd="127.0.0.1:1", **options)
    assert raised.value.status == Status.UNREACHABLE
    with pytest.raises(TypeError, match="'one'; pass a list"):
        Cluster("one", **options)
    closed = Cluster(SERVERS, **options)
    closed.close()
    with pytest.raises(ValueError):
        closed.get("key")


def test_keys_of_all_servers(cluster, servers):
    cluster.set_many((key, b"1") for key in KEYS)
    assert cluster.keys() == {key.encode(): 0 for key in KEYS}
    servers["two"].stop()
    with pytest.raises(Error) as raised:
        cluster.keys()
    assert raised.value.status == Status.DISCONNECTED


def run(options, use):
    async def main():
        async with AsyncCluster(SERVERS, **options) as opened:
            return await use(opened)
    return asyncio.run(asyncio.wait_for(main(), 60))


def test_tasks_use_all_servers(options):
    async def use(cluster):
        async def task(key):
            await cluster.set(key, key.encode())
            return await cluster.get(key)
        assert await asyncio.gather(*map(task, KEYS)) == [key.encode() for key in KEYS]
        assert await cluster.get_many([*KEYS, "nothing"]) == [*map(str.encode, KEYS), None]
        assert set(await cluster.keys()) == {key.encode() for key in KEYS}
        for name in SERVERS:
            assert f'server="{name}"' in cluster.metrics()
        assert await cluster.delete_many(KEYS) == len(KEYS)
    run(options, use)


def test_tasks_notice_a_server_that_is_away(options, servers):
    async def use(cluster):
        servers["two"].stop()
        done = await asyncio.gather(*(cluster.set(key, b"1") for key in KEYS),
                                    return_exceptions=True)
        lost = [error for error in done if error is not None]
        assert {error.status for error in lost} == {Status.DISCONNECTED}
        assert 10 < len(lost) < len(KEYS) - 10
    run(options, use)
