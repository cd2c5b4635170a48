"""Stores and clusters for asyncio. Threads of the library run the operations, and a file descriptor
tells the event loop that some have ended."""

from __future__ import annotations

import asyncio
import itertools
from types import TracebackType
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple, Type, TypeVar, Union

from falafel._arguments import Buffer, Key, Values, keys_of, pairs_of
from falafel._cluster import Cluster
from falafel._declarations import ffi
from falafel._operations import Operation, Status, lib, operation_array, set_operation
from falafel._store import Store

_POLLED_AT_ONCE = 256


Self = TypeVar("Self", bound="AsyncCalls")


class AsyncCalls:
    """The calls that stores and clusters share. Cancelling a task does not cancel its operation."""

    def __init__(self, make: Callable[[], Union[Store, Cluster]]) -> None:
        self._make = make  # waits until the connection is there
        self._store: Union[Store, Cluster, None] = None
        self._loop: Optional[asyncio.AbstractEventLoop] = None
        self._numbers = itertools.count(1)
        self._waiting: List[Tuple[Operation, asyncio.Future[None]]] = []
        # By number: the operation, its future, and the memory that the library uses.
        self._submitted: Dict[int, Tuple[Operation, asyncio.Future[None], Any]] = {}
        self._ended = ffi.new("falafel_operation*[]", _POLLED_AT_ONCE)

    async def open(self: Self) -> Self:
        self._loop = asyncio.get_running_loop()
        self._store = await self._loop.run_in_executor(None, self._make)
        self._loop.add_reader(self._descriptor(), self._take_ended)
        return self

    async def close(self) -> None:
        """Waits for the operations in flight, and ends the connection."""
        if self._store is None or self._loop is None:
            return
        self._submit_waiting()
        futures = [future for _, future, _ in self._submitted.values()]
        await asyncio.gather(*futures, return_exceptions=True)
        self._loop.remove_reader(self._descriptor())
        store, self._store = self._store, None
        await self._loop.run_in_executor(None, store.close)

    async def __aenter__(self: Self) -> Self:
        return await self.open()

    async def __aexit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                        traceback: Optional[TracebackType]) -> None:
        await self.close()

    async def get(self, key: Key) -> Optional[bytes]:
        """The value of the key; None if it is not in the store."""
        return (await self._run([Operation(lib.FALAFEL_GET, key)]))[0].value()

    async def set(self, key: Key, value: Buffer, time_to_live: float = 0) -> None:
        """Stores the value, without a copy in Python. It must not change until then. The time to
        live is as in Store.set()."""
        (await self._run([set_operation(key, value, time_to_live)]))[0].check_stored()

    async def delete(self, key: Key) -> bool:
        """Returns whether the key was in the store."""
        return (await self._run([Operation(lib.FALAFEL_DELETE, key)]))[0].was_deleted()

    async def get_many(self, keys: Iterable[Key]) -> List[Optional[bytes]]:
        """The values of the keys, in their order."""
        gets = await self._run([Operation(lib.FALAFEL_GET, key) for key in keys_of(keys)])
        return [get.value() for get in gets]

    async def set_many(self, values: Values, time_to_live: float = 0) -> None:
        """Stores all values, each with this time to live; raises the first error after all have
        ended."""
        for operation in await self._run([set_operation(key, value, time_to_live)
                                          for key, value in pairs_of(values)]):
            operation.check_stored()

    async def delete_many(self, keys: Iterable[Key]) -> int:
        """How many of the keys were in the store."""
        deletes = await self._run([Operation(lib.FALAFEL_DELETE, key) for key in keys_of(keys)])
        return sum(delete.was_deleted() for delete in deletes)

    async def keys(self) -> Dict[bytes, float]:
        """All keys and their times to live, as Store.keys(); on another thread."""
        return await asyncio.get_running_loop().run_in_executor(None, self._opened().keys)

    def metrics(self) -> str:
        """Returns the metrics in the text format of Prometheus. Does not wait."""
        return self._opened().metrics()

    def _opened(self) -> Union[Store, Cluster]:
        if self._store is None:
            raise ValueError("the store is not open")
        return self._store

    def _handle(self) -> Any:
        with self._opened()._call() as handle:  # close() of this class alone closes it
            return handle

    def _descriptor(self) -> int:
        return int(self._opened()._functions.poll_descriptor(self._handle()))

    async def _run(self, operations: List[Operation]) -> List[Operation]:
        self._handle()
        loop = asyncio.get_running_loop()
        if not self._waiting:
            loop.call_soon(self._submit_waiting)
        futures = [loop.create_future() for _ in operations]
        self._waiting.extend(zip(operations, futures))
        if futures:
            await asyncio.wait(futures)
        return operations

    def _submit_waiting(self) -> None:
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        array = operation_array([operation for operation, _ in waiting])
        for native, (operation, future) in zip(array, waiting):
            number = next(self._numbers)
            native.user_data = ffi.cast("void*", number)
            self._submitted[number] = (operation, future, array)
        status = self._opened()._functions.submit(self._handle(), array, len(array))
        if status != Status.OK:  # none was started
            for native in array:
                native.status = status
                self._end(native)

    def _take_ended(self) -> None:
        count = self._opened()._functions.poll(self._handle(), self._ended, _POLLED_AT_ONCE, 0)
        for index in range(count):
            self._end(self._ended[index])

    def _end(self, native: Any) -> None:
        number = int(ffi.cast("uintptr_t", native.user_data))
        operation, future, _memory = self._submitted.pop(number)
        operation.end(native)
        if not future.done():
            future.set_result(None)


class AsyncStore(AsyncCalls):
    """A connection to a server, for the tasks of one event loop.

        async with falafel.AsyncStore() as store:
            await store.set("greeting", b"hello")

    Takes the arguments of Store. Operations that tasks start in the same turn of the event loop are
    submitted together.
    """

    def __init__(self, server: str = "falafel", **options: Union[str, int, bool]) -> None:
        super().__init__(lambda: Store(server, **options))


class AsyncCluster(AsyncCalls):
    """Connections to several servers, for the tasks of one event loop.

        async with falafel.AsyncCluster(["10.0.0.1", "10.0.0.2"], fabric="verbs") as cluster:
            await cluster.set("greeting", b"hello")

    Takes the arguments of Cluster. A server that is away delays only operations on its own keys.
    """

    def __init__(self, servers: Iterable[str] = (), **options: Union[str, int, bool]) -> None:
        super().__init__(lambda: Cluster(servers, **options))
