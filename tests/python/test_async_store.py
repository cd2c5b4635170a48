import asyncio

import pytest
from falafel import AsyncStore, Error, Status


def run(options, use):
    async def main():
        async with AsyncStore(**options) as store:
            return await use(store)
    return asyncio.run(asyncio.wait_for(main(), 60))


def test_values_are_stored_found_and_deleted(options):
    async def use(store):
        assert await store.get("key") is None
        await store.set("key", memoryview(b"value"))
        assert await store.get("key") == b"value"
        assert await store.delete("key") is True
        assert await store.delete("key") is False
    run(options, use)


def test_tasks_run_together(options):
    async def use(store):
        async def task(number):
            await store.set(f"key {number}", str(number).encode())
            return await store.get(f"key {number}")
        values = await asyncio.gather(*(task(number) for number in range(1000)))
        assert values == [str(number).encode() for number in range(1000)]
    run(options, use)


def test_many_keep_their_order(options):
    async def use(store):
        values = {f"key {number}": str(number).encode() for number in range(1000)}
        await store.set_many(values)
        assert await store.get_many([*values, "nothing"]) == [*values.values(), None]
        assert await store.delete_many([*values, "nothing"]) == 1000
        assert await store.get_many([]) == []
    run(options, use)


def test_errors_name_the_key_and_the_reason(options):
    async def use(store):
        with pytest.raises(Error, match="set 'large': the value is too large"):
            await store.set_many({"small": b"1", "large": bytes(2 << 20)})
        assert await store.get("small") == b"1"
        with pytest.raises(Error, match="invalid argument"):
            await store.get("")
    run(options, use)


def test_a_cancelled_task_leaves_the_store_usable(options):
    async def use(store):
        task = asyncio.ensure_future(store.set("key", b"value"))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await store.set("other", b"1")
        assert await store.get("other") == b"1"
    run(options, use)


def test_closing_waits_for_operations(options):
    async def use(store):
        return [asyncio.ensure_future(store.set(f"key {number}", b"1")) for number in range(100)]

    async def main():
        async with AsyncStore(**options) as store:
            tasks = await use(store)
            await asyncio.sleep(0)
        await asyncio.gather(*tasks)
    asyncio.run(asyncio.wait_for(main(), 60))
    assert run(options, lambda store: store.get("key 99")) == b"1"


def test_without_a_server_operations_fail(server, options):
    async def use(store):
        server.stop()
        with pytest.raises(Error) as failed:
            await store.get("key")
        assert failed.value.status == Status.DISCONNECTED
        server.start()
        assert await store.get("key") is None
    run(options, use)


def test_a_store_that_is_not_open_refuses(options):
    async def main():
        with pytest.raises(ValueError, match="not open"):
            await AsyncStore(**options).get("key")
        with pytest.raises(Error, match="no server named 'nobody'"):
            await AsyncStore("nobody", **options).open()
    asyncio.run(main())


def test_values_of_a_cache_expire(cache_options):
    async def use(cache):
        await cache.set("short", b"1", time_to_live=0.05)
        await cache.set_many({"short 1": b"1", "short 2": b"2"}, time_to_live=0.05)
        await cache.set_many({"kept 1": b"1", "kept 2": b"2"})
        await cache.set("kept", b"3")
        await asyncio.sleep(0.06)
        assert await cache.get_many(["short", "short 1", "short 2"]) == [None, None, None]
        assert await cache.get_many(["kept 1", "kept 2", "kept"]) == [b"1", b"2", b"3"]
    run(cache_options, use)
