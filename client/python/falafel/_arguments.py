"""The arguments of calls: what they may be, and errors that say what to pass instead."""

from __future__ import annotations

import math
import numbers
from typing import Any, Iterable, Mapping, Tuple, Union

# Objects with a contiguous buffer: bytes, bytearray, memoryview, array.array, NumPy arrays, ...
Buffer = Any
# The text of a key is encoded in UTF-8.
Key = Union[str, Buffer]
# A dictionary, or pairs of a key and its value.
Values = Union[Mapping[Key, Buffer], Iterable[Tuple[Key, Buffer]]]

# As time to live: the value does not expire, and a full cache does not evict it.
PINNED = math.inf

_PINNED_NS = 2**64 - 2  # FALAFEL_PINNED, which is a macro
_SHORTEST_TIME_TO_LIVE = 1e-9
_LONGEST_TIME_TO_LIVE = 1e9


def wrong_key(key: Key) -> TypeError:
    """Explains why this is no key."""
    return TypeError(f"the key is {_described(key)}; pass a text or bytes")


def wrong_value(key: Key, value: Buffer) -> TypeError:
    """Explains why this is no value."""
    if isinstance(value, str):
        return TypeError(f"the value of {key!r} is the text {_shortened(value)}; pass bytes, such "
                         "as b'...' or text.encode()")
    if value is None:
        return TypeError(f"the value of {key!r} is None; pass bytes, or delete() the key")
    return TypeError(f"the value of {key!r} is {_described(value)}; pass bytes or another buffer")


def keys_of(keys: Iterable[Key]) -> Iterable[Key]:
    """The keys of get_many() and the like. A text or a buffer would be taken for its letters."""
    return _elements_of("keys", keys, "a list of keys")


def pairs_of(values: Values) -> Iterable[Tuple[Key, Buffer]]:
    if isinstance(values, Mapping):
        return values.items()
    return map(_checked_pair, _elements_of("values", values, "a dictionary or a list of pairs"))


def names_of(servers: Iterable[str]) -> Iterable[bytes]:
    return (name_bytes_of(server) for server in _elements_of("servers", servers, "a list of names"))


def name_bytes_of(server: str) -> bytes:
    """The name of a server for the library, which takes it to its first zero byte."""
    if not isinstance(server, str):
        raise TypeError(f"the name of the server is {_described(server)}; pass a text")
    return _without_zero_byte(f"the name of the server {server!r}", server)


def option_bytes_of(name: str, value: Union[str, int, bool]) -> bytes:
    if isinstance(value, bool):
        return str(value).lower().encode()
    if value is None or isinstance(value, bytes):
        raise TypeError(f"option {name!r} is {_described(value)}; pass a text, a number or a "
                        "boolean, or leave it out")
    return _without_zero_byte(f"option {name!r}", str(value))


def nanoseconds_of(time_to_live: float) -> int:
    if isinstance(time_to_live, bool) or not isinstance(time_to_live, numbers.Real):
        raise TypeError(f"time_to_live is {_described(time_to_live)}; pass a number of seconds")
    if time_to_live == 0:
        return 0
    if time_to_live == PINNED:
        return _PINNED_NS
    # Not a number fails this, too.
    if not _SHORTEST_TIME_TO_LIVE <= time_to_live <= _LONGEST_TIME_TO_LIVE:
        raise ValueError(f"time_to_live is {time_to_live} seconds; pass 0 (never), PINNED, or from "
                         "1e-9 to 1e9 seconds")
    return round(time_to_live * 1e9)


def seconds_of(time_to_live_ns: int) -> float:
    return PINNED if time_to_live_ns == _PINNED_NS else time_to_live_ns / 1e9


def _checked_pair(pair: Tuple[Key, Buffer]) -> Tuple[Key, Buffer]:
    if isinstance(pair, (str, bytes)) or not hasattr(pair, "__len__") or len(pair) != 2:
        raise TypeError(f"values has {_described(pair)}; pass a dictionary or a list of pairs")
    return pair


def _elements_of(name: str, elements: Iterable[Any], expected: str) -> Iterable[Any]:
    if isinstance(elements, str):
        raise TypeError(f"{name} is the text {_shortened(elements)}; pass {expected}")
    if isinstance(elements, (bytes, bytearray, memoryview)) or not hasattr(elements, "__iter__"):
        raise TypeError(f"{name} is {_described(elements)}; pass {expected}")
    return elements


def _without_zero_byte(subject: str, text: str) -> bytes:
    if "\0" in text:
        raise ValueError(f"{subject} has a zero byte; remove it")
    return text.encode()


def _described(value: Any) -> str:
    return "None" if value is None else f"of type {type(value).__name__}"


def _shortened(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "...")
