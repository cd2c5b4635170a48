"""The parts that stores and clusters share: the calls that wait, opening and closing."""

from __future__ import annotations

from types import TracebackType
from typing import (
    Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional, Type, TypeVar, Union,
)

from falafel._arguments import (
    Buffer, Key, Values, keys_of, nanoseconds_of, option_bytes_of, pairs_of, seconds_of,
)
from falafel._declarations import ffi
from falafel._handle import Handle
from falafel._operations import (
    Error, Operation, Status, error_of, key_bytes_of, lib, libc, operation_array, set_operation,
    take_value, value_bytes_of,
)

_KEEP_EXPIRY = 2**64 - 1  # FALAFEL_KEEP_EXPIRY, which is a macro

Self = TypeVar("Self", bound="WaitingCalls")


class Functions(NamedTuple):
    """The functions of the library for a kind of handle."""

    get: Any
    set: Any
    compare_and_set: Any
    delete: Any
    execute: Any
    for_each_key: Any
    submit: Any
    poll: Any
    poll_descriptor: Any
    close: Any


class WaitingCalls:
    _functions: Functions
    _handle: Optional[Handle] = None  # None: opening it failed

    def close(self) -> None:
        """Ends the connections. Calls that other threads have running raise ValueError when they
        end, and close() waits for that."""
        if self._handle is not None:
            self._handle.close()

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
        with self._call() as handle:
            status = self._functions.get(handle, key_bytes, len(key_bytes), value, length)
            found = take_value(value[0], length[0]) if status == Status.OK else None
        if status not in (Status.OK, Status.NOT_FOUND):
            raise error_of("get", key, status)
        return found

    def get_into(self, key: Key, buffer: Buffer) -> Optional[int]:
        """Copies the value into the buffer and returns its length; None if the key is not in the
        store. If the buffer is too small, raises Error with Status.BUFFER_TOO_SMALL."""
        memory = ffi.from_buffer(buffer, require_writable=True)
        operation = Operation(lib.FALAFEL_GET, key)
        array = operation_array([operation])
        array[0].value = memory
        array[0].buffer_bytes = len(memory)
        with self._call() as handle:
            self._functions.execute(handle, array, 1)
        if array[0].status == Status.NOT_FOUND:
            return None
        if array[0].status != Status.OK:
            raise error_of("get", key, array[0].status)
        return int(array[0].value_bytes)

    def set(self, key: Key, value: Buffer, time_to_live: float = 0) -> None:
        """Stores the value, without a copy in Python. In a cache (falafel serve --cache), it
        expires after `time_to_live` seconds; 0: never; PINNED: never, and a full cache does not
        evict it. Other stores raise Error with Status.NOT_A_CACHE if there is a time to live."""
        key_bytes, value_bytes = key_bytes_of(key), value_bytes_of(key, value)
        time_to_live_ns = nanoseconds_of(time_to_live)
        with self._call() as handle:
            status = self._functions.set(handle, key_bytes, len(key_bytes), value_bytes,
                                         len(value_bytes), time_to_live_ns)
        if status != Status.OK:
            raise error_of("set", key, status)

    def compare_and_set(self, key: Key, expected: Optional[Buffer], value: Buffer,
                        time_to_live: Optional[float] = None) -> bool:
        """Stores the value if the key has the expected one (None: if it is absent), and returns
        whether it did. One atomic operation: of several clients that expect the same value, one
        stores its own. In a cache, the new value expires after `time_to_live` seconds (as for
        set()), or when the present one would have, and is pinned if that is."""
        key_bytes, value_bytes = key_bytes_of(key), value_bytes_of(key, value)
        expected_bytes = ffi.NULL if expected is None else value_bytes_of(key, expected)
        expected_length = 0 if expected is None else len(expected_bytes)
        lives_ns = _KEEP_EXPIRY if time_to_live is None else nanoseconds_of(time_to_live)
        with self._call() as handle:
            status = self._functions.compare_and_set(
                handle, key_bytes, len(key_bytes), expected_bytes, expected_length, value_bytes,
                len(value_bytes), lives_ns)
        if status not in (Status.OK, Status.DIFFERS):
            raise error_of("compare_and_set", key, status)
        return bool(status == Status.OK)

    def delete(self, key: Key) -> bool:
        """Returns whether the key was in the store."""
        key_bytes = key_bytes_of(key)
        with self._call() as handle:
            status = self._functions.delete(handle, key_bytes, len(key_bytes))
        if status not in (Status.OK, Status.NOT_FOUND):
            raise error_of("delete", key, status)
        return bool(status == Status.OK)

    def get_many(self, keys: Iterable[Key]) -> List[Optional[bytes]]:
        """The values of the keys, in their order, read with many operations in flight."""
        return [get.value() for get in self._execute(Operation(lib.FALAFEL_GET, key)
                                                     for key in keys_of(keys))]

    def set_many(self, values: Values, time_to_live: float = 0) -> None:
        """Stores all values, each with this time to live (see set()); raises the first error after
        all have ended."""
        for operation in self._execute(set_operation(key, value, time_to_live)
                                       for key, value in pairs_of(values)):
            operation.check_stored()

    def delete_many(self, keys: Iterable[Key]) -> int:
        """How many of the keys were in the store."""
        return sum(delete.was_deleted() for delete in self._execute(
            Operation(lib.FALAFEL_DELETE, key) for key in keys_of(keys)))

    def keys(self) -> Dict[bytes, float]:
        """All keys, and what is left of their times to live in seconds; 0: the key does not expire;
        PINNED: it is pinned. Keys that are inserted or deleted during the call may be missing or
        not."""
        found: Dict[bytes, float] = {}
        raised: List[BaseException] = []

        # An exception cannot pass through the library.
        @ffi.callback("falafel_visit")
        def visit(key: Any, length: int, time_to_live_ns: int, _user_data: Any) -> None:
            try:
                if not raised:
                    found[bytes(ffi.buffer(key, length))] = seconds_of(time_to_live_ns)
            except BaseException as error:
                raised.append(error)

        with self._call() as handle:
            status = self._functions.for_each_key(handle, visit, ffi.NULL)
        if raised:
            raise raised[0]
        if status != Status.OK:
            raise Error(status, ffi.string(lib.falafel_status_text(status)).decode())
        return found

    def _take_opened(self, kind: str, open_it: Callable[[Any, Any, int], int]) -> None:
        """Calls open_it(handle, message, length), and takes the handle or raises the message."""
        handle = ffi.new(kind)
        message = ffi.new("char[]", 1024)
        status = open_it(handle, message, len(message))
        if status != Status.OK:
            raise Error(status, ffi.string(message).decode(errors="replace"))
        self._handle = Handle(handle[0], self._functions.close)

    def _call(self) -> Handle:
        """For a with statement around a call of the library."""
        if self._handle is None:
            raise ValueError("the store is not open")
        return self._handle

    def _execute(self, operations: Iterable[Operation]) -> List[Operation]:
        operations = list(operations)
        array = operation_array(operations)
        with self._call() as handle:
            status = self._functions.execute(handle, array, len(operations))
            # They release the memory of the library, also if the store was closed meanwhile.
            if status == Status.OK:
                for native, operation in zip(array, operations):
                    operation.end(native)
        if status != Status.OK:
            raise Error(status, ffi.string(lib.falafel_status_text(status)).decode())
        return operations


def native_options(options: Mapping[str, Union[str, int, bool]]) -> Any:
    """As falafel_options."""
    native = ffi.gc(lib.falafel_options_create(), lib.falafel_options_destroy)
    for name, value in options.items():
        lib.falafel_options_set(native, name.encode(), option_bytes_of(name, value))
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
