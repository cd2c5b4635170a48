"""What stores and clusters share: the calls that wait, opening and closing."""

from __future__ import annotations

from types import TracebackType
from typing import (
    Any, Callable, Iterable, List, Mapping, NamedTuple, Optional, Tuple, Type, TypeVar, Union,
)

from falafel._declarations import ffi
from falafel._operations import (
    Buffer, Error, Key, Operation, Status, bytes_of, error_of, key_bytes_of, lib, libc,
    nanoseconds_of, operation_array, pairs_of, set_operation, take_value,
)

Self = TypeVar("Self", bound="WaitingCalls")


class Functions(NamedTuple):
    """The functions of the library for a kind of handle."""

    get: Any
    set: Any
    delete: Any
    execute: Any
    close: Any


class WaitingCalls:
    _functions: Functions
    _handle: Any = None

    def close(self) -> None:
        """Ends the connections. No other thread may use them."""
        handle, self._handle = self._handle, None
        if handle is not None:
            self._functions.close(handle)

    def __enter__(self: Self) -> Self:
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
        status = self._functions.get(self._open(), key_bytes, len(key_bytes), value, length)
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
        self._functions.execute(self._open(), array, 1)
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
        status = self._functions.set(self._open(), key_bytes, len(key_bytes), value_bytes,
                                     len(value_bytes), nanoseconds_of(time_to_live))
        if status != Status.OK:
            raise error_of("set", key, status)

    def delete(self, key: Key) -> bool:
        """Whether the key was in the store."""
        key_bytes = key_bytes_of(key)
        status = self._functions.delete(self._open(), key_bytes, len(key_bytes))
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

    def _take_opened(self, kind: str, open_it: Callable[[Any, Any, int], int]) -> None:
        """Calls open_it(handle, message, length), and takes the handle or raises the message."""
        handle = ffi.new(kind)
        message = ffi.new("char[]", 1024)
        status = open_it(handle, message, len(message))
        if status != Status.OK:
            raise Error(status, ffi.string(message).decode(errors="replace"))
        self._handle = handle[0]

    def _open(self) -> Any:
        if self._handle is None:
            raise ValueError("the store is closed")
        return self._handle

    def _execute(self, operations: Iterable[Operation]) -> List[Operation]:
        operations = list(operations)
        array = operation_array(operations)
        status = self._functions.execute(self._open(), array, len(operations))
        if status != Status.OK:
            raise Error(status, ffi.string(lib.falafel_status_text(status)).decode())
        for native, operation in zip(array, operations):
            operation.end(native)
        return operations


def native_options(options: Mapping[str, Union[str, int, bool]]) -> Any:
    """As falafel_options."""
    native = ffi.gc(lib.falafel_options_create(), lib.falafel_options_destroy)
    for name, value in options.items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        lib.falafel_options_set(native, name.encode(), text.encode())
    return native


def metrics_text(write: Callable[[Any], int]) -> str:
    """Calls write(text) and takes the text."""
    text = ffi.new("char**")
    status = write(text)
    if status != Status.OK:
        raise Error(status, ffi.string(lib.falafel_status_text(status)).decode())
    try:
        return str(ffi.string(text[0]).decode(errors="replace"))
    finally:
        libc.free(text[0])
