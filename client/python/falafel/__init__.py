"""A client of the key-value store Falafel.

    with falafel.Store() as store:
        store.set("greeting", b"hello")
        print(store.get("greeting"))
"""

from falafel._arguments import PINNED
from falafel._async_calls import AsyncCluster, AsyncStore
from falafel._cluster import Cluster
from falafel._operations import Error, Status
from falafel._store import Store, metrics

__all__ = ["PINNED", "AsyncCluster", "AsyncStore", "Cluster", "Error", "Status", "Store", "metrics"]
