"""The store with calls that wait."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Iterable, List, Mapping, Optional, Tuple, Type, Union

from falafel._declarations import ffi
from falafel._operations import (
    Buffer, Error, Key, Operation, Status, bytes_of, error_of, key_bytes_of, lib, libc,
    nanoseconds_of, operation_array, pairs_of, set_operation, take_value,
)


class Store:
    """A connection to a server. Threads may share it.

    Options are those of the C interface (docs/library.md), such as fabric="verbs" or
    max_operations_in_flight=64.
    """

    def __init__(self, server: str = "falafel", **options: Union[str, int, bool]) -> None:
        self._handle: Any = None
        message = ffi.new("char[]", 1024)
        handle = ffi.new("falafel_store**")
        native = ffi.gc(lib.falafel_options_create(), lib.falafel_options_destroy)
        for name, value in options.items():
            lib.falafel_options_set(native, name.encode(), _option_text(value).encode())
        status = lib.falafel_open(server.encode(), native, handle, message, len(message))
        if status != Status.OK:
            raise Error(status, ffi.string(message).decode(errors="replace"))
        self._handle = handle[0]

    def close(self) -> None:
        """Ends the connection. No other thread may use the store."""
        handle, self._handle = self._handle, None
        if handle is not None:
            lib.falafel_close(handle)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 traceback: Optional[TracebackType]) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def get(self, key: Key) -> Optional[bytes]:
        """The value of the key; None if it is not in the store."""
        value = ffi.new("void**")
        length = ffi.new("size_t*")
        key_bytes = key_bytes_of(key)
        status = lib.falafel_get(self._open(), key_bytes, len(key_bytes), value, length)
        if status == Status.NOT_FOUND:
            return None
        if status != Status.OK:
            raise error_of("get", key, status)
        return take_value(value[0], length[0])

    def get_into(self, key: Key, buffer: Buffer) -> Optional[int]:
        """Copies the value into the buffer and returns its length; None if the key is not in the
        store. If the buffer is too small, raises Error with Status.BUFFER_TOO_SMALL."""
        memory = ffi.from_buffer(buffer, require_writable=True)
        operation = Operation(lib.FALAFEL_GET, key)
        array = operation_array([operation])
        array[0].value = memory
        array[0].buffer_bytes = len(memory)
        lib.falafel_execute(self._open(), array, 1)
        if array[0].status == Status.NOT_FOUND:
            return None
        if array[0].status != Status.OK:
            raise error_of("get", key, array[0].status)
        return int(array[0].value_bytes)

    def set(self, key: Key, value: Buffer, time_to_live: float = 0) -> None:
        """Stores the value, without a copy in Python. In a cache (falafel serve --cache), it
        expires after `time_to_live` seconds; 0: never. Other stores raise Error with
        Status.NOT_A_CACHE if there is a time to live."""
        key_bytes, value_bytes = key_bytes_of(key), bytes_of(value)
        status = lib.falafel_set_expiring(self._open(), key_bytes, len(key_bytes), value_bytes,
                                          len(value_bytes), nanoseconds_of(time_to_live))
        if status != Status.OK:
            raise error_of("set", key, status)

    def delete(self, key: Key) -> bool:
        """Whether the key was in the store."""
        key_bytes = key_bytes_of(key)
        status = lib.falafel_delete(self._open(), key_bytes, len(key_bytes))
        if status not in (Status.OK, Status.NOT_FOUND):
            raise error_of("delete", key, status)
        return bool(status == Status.OK)

    def get_many(self, keys: Iterable[Key]) -> List[Optional[bytes]]:
        """The values of the keys, in their order, read with many operations in flight."""
        return [get.value() for get in self._execute(Operation(lib.FALAFEL_GET, key)
                                                     for key in keys)]

    def set_many(self, values: Union[Mapping[Key, Buffer], Iterable[Tuple[Key, Buffer]]],
                 time_to_live: float = 0) -> None:
        """Stores all values, each with this time to live (see set()); raises the first error after
        all have ended."""
        for operation in self._execute(set_operation(key, value, time_to_live)
                                       for key, value in pairs_of(values)):
            operation.check_stored()

    def delete_many(self, keys: Iterable[Key]) -> int:
        """How many of the keys were in the store."""
        return sum(delete.was_deleted() for delete in self._execute(
            Operation(lib.FALAFEL_DELETE, key) for key in keys))

    @property
    def is_connected(self) -> bool:
        """Whether the connection was intact at its last use."""
        return bool(lib.falafel_is_connected(self._open()))

    @property
    def server_incarnation(self) -> int:
        """Changes if the server has restarted and was empty."""
        return int(lib.falafel_server_incarnation(self._open()))

    def metrics(self) -> str:
        """What this store has done so far, in the text format of Prometheus."""
        return metrics([self])

    def _open(self) -> Any:
        if self._handle is None:
            raise ValueError("the store is closed")
        return self._handle

    def _execute(self, operations: Iterable[Operation]) -> List[Operation]:
        operations = list(operations)
        array = operation_array(operations)
        lib.falafel_execute(self._open(), array, len(operations))
        for native, operation in zip(array, operations):
            operation.end(native)
        return operations


def metrics(stores: Iterable[Store]) -> str:
    """What these stores have done so far, in the text format of Prometheus (version 0.0.4). Stores
    of one server are added up, so a program with several stores should export them together."""
    handles = [store._open() for store in stores]
    text = ffi.new("char**")
    status = lib.falafel_metrics(handles, len(handles), text)
    if status != Status.OK:
        raise Error(status, ffi.string(lib.falafel_status_text(status)).decode())
    try:
        return str(ffi.string(text[0]).decode(errors="replace"))
    finally:
        libc.free(text[0])


def _option_text(value: Union[str, int, bool]) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
