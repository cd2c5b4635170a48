"""A tour of the package. Start `falafel serve`, then run this, or paste it into a notebook.
Argument: the directory of the server's socket, if it is not the default."""

import array
import asyncio
import sys
import time

import falafel

options = {"directory": sys.argv[1]} if len(sys.argv) > 1 else {}

# One value.
store = falafel.Store(**options)
store.set("greeting", b"hello")
print("greeting:", store.get("greeting").decode())

# Many values with many operations in flight.
start = time.perf_counter()
store.set_many((f"square {number}", str(number * number).encode()) for number in range(10_000))
squares = store.get_many(f"square {number}" for number in range(10_000))
print(f"20,000 operations in {time.perf_counter() - start:.3f} s; 99 squared: {squares[99].decode()}")

# Anything with a buffer is a value, and a value can be read into any buffer, without a copy.
store.set("measurements", array.array("d", [20.5, 21.0, 19.75]))
measurements = array.array("d", bytes(3 * 8))
store.get_into("measurements", measurements)
print("measurements:", measurements.tolist())
store.close()


# Tasks of asyncio.
async def count(shared, name):
    await shared.set(f"counter {name}", b"0")
    for number in range(1, 101):
        await shared.set(f"counter {name}", str(number).encode())
    return await shared.get(f"counter {name}")


async def main():
    async with falafel.AsyncStore(**options) as shared:
        return await asyncio.gather(*(count(shared, name) for name in "abc"))


# In a notebook: counters = await main()
print("counters:", [int(value) for value in asyncio.run(main())])
