"""The library, statuses as errors, and operations as the library takes them."""

from __future__ import annotations

import enum
import pathlib
from typing import Any, Optional, Sequence

from falafel._arguments import Buffer, Key, nanoseconds_of, wrong_key, wrong_value
from falafel._declarations import ffi

_NAME = "libfalafel-c.so.0"
_bundled = pathlib.Path(__file__).parent / _NAME
lib = ffi.dlopen(str(_bundled) if _bundled.exists() else _NAME)
libc = ffi.dlopen(None)


class Status(enum.IntEnum):
    """The results of operations (falafel.h explains them)."""

    OK = 0
    NOT_FOUND = 1
    INVALID = 2
    NO_SERVER = 3
    NO_PERMISSION = 4
    OTHER_VERSION = 5
    REFUSED = 6
    UNREACHABLE = 7
    OUT_OF_MEMORY = 8
    TABLE_FULL = 9
    STORE_FULL = 10
    VALUE_TOO_LARGE = 11
    CORRUPTED = 12
    UNKNOWN_OUTCOME = 13
    DISCONNECTED = 14
    TIMED_OUT = 15
    BUFFER_TOO_SMALL = 16
    NOT_A_CACHE = 17
    DIFFERS = 18


class Error(Exception):
    """An operation failed. `status` says why, and `key` is the key as the caller gave it."""

    def __init__(self, status: int, message: str, key: Optional[Key] = None) -> None:
        super().__init__(message)
        self.status = Status(status)
        self.key = key


def error_of(action: str, key: Key, status: int) -> Error:
    text = ffi.string(lib.falafel_status_text(status)).decode()
    return Error(status, f"{action} {key!r}: {text}", key)


def value_bytes_of(key: Key, value: Buffer) -> Any:
    """The memory of the value for the library, without a copy. The result keeps it alive."""
    try:
        return ffi.from_buffer(value)
    except TypeError:
        raise wrong_value(key, value) from None


def key_bytes_of(key: Key) -> Any:
    try:
        return ffi.from_buffer(key.encode() if isinstance(key, str) else key)
    except TypeError:
        raise wrong_key(key) from None


def take_value(memory: Any, length: int) -> bytes:
    """Copies a value that the library allocated, and releases it."""
    try:
        return bytes(ffi.buffer(memory, length))
    finally:
        libc.free(memory)


class Operation:
    """An operation, what the library needs of it until it has ended, and its result."""

    def __init__(self, kind: int, key: Key, value: Optional[Buffer] = None,
                 time_to_live_ns: int = 0) -> None:
        self.kind = kind
        self.key = key
        self.status = Status.OK
        self._time_to_live_ns = time_to_live_ns
        self._value: Optional[bytes] = None
        self._key_bytes = key_bytes_of(key)
        is_set = kind == lib.FALAFEL_SET_EXPIRING
        self._value_bytes = value_bytes_of(key, value) if is_set else None

    def write_to(self, native: Any) -> None:
        """Fills a falafel_operation."""
        native.kind = self.kind
        native.key = self._key_bytes
        native.key_bytes = len(self._key_bytes)
        if self._value_bytes is not None:
            native.value = self._value_bytes
            native.value_bytes = len(self._value_bytes)
        if self.kind == lib.FALAFEL_SET_EXPIRING:
            native.time_to_live_ns = self._time_to_live_ns

    def end(self, native: Any) -> None:
        """Takes the result from the falafel_operation."""
        self._key_bytes = self._value_bytes = None
        self.status = Status(native.status)
        if self.kind == lib.FALAFEL_GET and self.status == Status.OK:
            self._value = take_value(native.value, native.value_bytes)

    def value(self) -> Optional[bytes]:
        """Returns the value that a GET found; None: not found."""
        if self.status not in (Status.OK, Status.NOT_FOUND):
            raise error_of("get", self.key, self.status)
        return self._value

    def check_stored(self) -> None:
        """Raises an error if a SET has failed."""
        if self.status != Status.OK:
            raise error_of("set", self.key, self.status)

    def was_deleted(self) -> bool:
        """Returns whether a DELETE found the key."""
        if self.status not in (Status.OK, Status.NOT_FOUND):
            raise error_of("delete", self.key, self.status)
        return self.status == Status.OK


def set_operation(key: Key, value: Buffer, time_to_live: float) -> Operation:
    return Operation(lib.FALAFEL_SET_EXPIRING, key, value, nanoseconds_of(time_to_live))


def operation_array(operations: Sequence[Operation]) -> Any:
    """The operations as an array of the library."""
    array = ffi.new("falafel_operation[]", len(operations))
    for native, operation in zip(array, operations):
        operation.write_to(native)
    return array
