"""Tests of rdma-core that fork a passive and an active process: here, these are two hosts.

Both hosts run the same tests, each its side. In place of a barrier and a queue between the
processes, the hosts have a TCP connection for each test.
"""

import pickle
import socket
import struct

PORT = 4711
SIZE = struct.Struct("<I")


class Connection:
    """Barriers and items that one side puts and the other one gets."""

    def __init__(self, is_passive):
        if is_passive:
            with socket.create_server(("", PORT)) as server:
                self.socket = server.accept()[0]
        else:
            self.socket = connect()
        self.items = []
        self.barriers = 0

    def send(self, *message):
        data = pickle.dumps(message)
        self.socket.sendall(SIZE.pack(len(data)) + data)

    def receive_bytes(self, count):
        data = b""
        while len(data) < count:
            part = self.socket.recv(count - len(data))
            if not part:
                raise EOFError("the other side has ended its test")
            data += part
        return data

    def receive(self):
        message = pickle.loads(self.receive_bytes(*SIZE.unpack(self.receive_bytes(SIZE.size))))
        if message[0] == "barrier":
            self.barriers += 1
        else:
            self.items.append(message[1])

    def wait(self):
        self.send("barrier")
        while self.barriers == 0:
            self.receive()
        self.barriers -= 1

    def put(self, item):
        self.send("item", item)

    def get(self):
        while not self.items:
            self.receive()
        return self.items.pop(0)


def connect():
    while True:
        try:
            return socket.create_connection(("passive", PORT))
        except ConnectionRefusedError:
            pass  # the other side still prepares the test


class Process:
    """One of the two processes: this host, which runs it in start(), or the other one."""

    def __init__(self, context, target, kwargs):
        self.context, self.target, self.kwargs = context, target, kwargs
        self.exitcode = 0

    def start(self):
        if self.kwargs["passive"] != self.context.is_passive:
            return
        try:
            self.target(**self.kwargs)
        except SystemExit as end:
            self.exitcode = end.code
        finally:
            self.context.connection.socket.close()

    def join(self, timeout):
        pass

    def is_alive(self):
        return False


class Context:
    """In place of a context of multiprocessing."""

    def __init__(self, is_passive):
        self.is_passive = is_passive
        self.connection = Connection(is_passive)

    def Barrier(self, parties, timeout):
        return self.connection

    def Queue(self):
        return self.connection

    def Process(self, target, kwargs):
        return Process(self, target, kwargs)


def divide(side):
    """Changes the base classes of the tests."""
    from pyverbs.cmid import AddrInfo
    from tests import base, base_rdmacm

    is_passive = side == "passive"
    address = socket.gethostbyname("passive")
    own_address = socket.gethostbyname(side)

    # The tests look for the interface of the device in /sys.
    def note_address(self, device, port, gid_index):
        self.args.append([device, port, gid_index, address, None])

    # They take the address of the passive side for that of the active one, too.
    def address_info(src=None, dst=None, **others):
        return AddrInfo(src=own_address if dst else src, dst=dst, **others)

    class Multiprocessing:
        @staticmethod
        def get_context(_):
            return Context(is_passive)

    base.RDMATestCase._get_ip_mac = note_address
    base.mp = Multiprocessing
    base_rdmacm.AddrInfo = address_info
