"""How long a test waits for what must happen. The limit only ends what hangs: it says nothing about
how fast a machine has to be. A machine that other programs keep busy needs seconds for what takes
milliseconds otherwise, so everything that is awaited has this one limit."""

HANG_LIMIT_SECONDS = 600
