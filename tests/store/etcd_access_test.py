"""A cluster whose list is in a real etcd that has TLS, and asks for passwords or certificates.

Usage: etcd_access_test.py FALAFEL
"""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import unittest
import urllib.request

import harness
from free_ports import free_ports

FALAFEL = sys.argv[1]
PASSWORD = "a password: with spaces"


class Certificates:
    """An authority, and what it signs."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.openssl("req", "-x509", "-subj", "/CN=authority", *self.key("ca"), "-out", "ca.pem")

    def openssl(self, *words):
        subprocess.run(["openssl", *words], cwd=self.directory, check=True, capture_output=True)

    def key(self, name):
        return ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                "-keyout", f"{name}.key", "-days", "2")

    def sign(self, name, alternative_name):
        (self.directory / "extensions").write_text(f"subjectAltName={alternative_name}\n")
        self.openssl("req", "-subj", f"/CN={name}", *self.key(name)[:-2], "-out", "request")
        self.openssl("x509", "-req", "-in", "request", "-CA", "ca.pem", "-CAkey", "ca.key",
                     "-CAcreateserial", "-days", "2", "-extfile", "extensions",
                     "-out", f"{name}.pem")

    def path(self, name):
        return str(self.directory / name)


class Etcd:
    def __init__(self, directory, certificates, *words):
        client, peer = free_ports(2)
        self.address = f"https://127.0.0.1:{client}"
        self.words = [
            "etcd", "--data-dir", f"{directory}/etcd", "--log-level", "error",
            "--cert-file", certificates.path("server.pem"),
            "--key-file", certificates.path("server.key"),
            "--listen-client-urls", self.address, "--advertise-client-urls", self.address,
            "--listen-peer-urls", f"http://127.0.0.1:{peer}", *words]
        self.tls = ssl.create_default_context(cafile=certificates.path("ca.pem"))
        self.tls.load_cert_chain(certificates.path("client.pem"), certificates.path("client.key"))
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.words, stderr=subprocess.DEVNULL)
        harness.wait_until(self.answers)

    def answers(self):
        try:
            with urllib.request.urlopen(f"{self.address}/health", timeout=10, context=self.tls):
                return True
        except OSError:
            return False

    def call(self, target, **body):
        request = urllib.request.Request(f"{self.address}/v3/{target}",
                                         json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=harness.HANG_LIMIT_SECONDS,
                                    context=self.tls) as answer:
            return json.load(answer)

    def kill(self):
        self.process.kill()
        self.process.wait()


class EtcdAccess(unittest.TestCase):
    def setUp(self):
        with contextlib.ExitStack() as until_set_up:
            self.directory = until_set_up.enter_context(tempfile.TemporaryDirectory())
            self.addCleanup(until_set_up.pop_all().close)
        os.environ["FALAFEL_DIRECTORY"] = self.directory
        self.certificates = Certificates(self.directory)
        self.certificates.sign("server", "IP:127.0.0.1")
        self.certificates.sign("client", "DNS:client")
        server = harness.Server(FALAFEL, self.directory, "--name", "a", "--memory", "8MiB")
        self.addCleanup(server.end, signal.SIGKILL)

    def start_etcd(self, *words):
        etcd = Etcd(self.directory, self.certificates, *words)
        self.addCleanup(lambda: etcd.kill())
        return etcd

    def falafel(self, etcd, *words, **options):
        """Options are written with underscores, without etcd in front."""
        written = {"ca": self.certificates.path("ca.pem"), **options}
        return subprocess.run(
            [FALAFEL, *words, "--etcd", etcd.address,
             *(text for name, value in written.items()
               for text in (f"--etcd-{name.replace('_', '-')}", value))],
            capture_output=True, text=True, timeout=harness.HANG_LIMIT_SECONDS)

    def use(self, etcd, **options):
        """Makes a list and uses it."""
        made = self.falafel(etcd, "members", "--set", "a", "--lease", "5", "--settle", "6",
                            **options)
        self.assertEqual(made.returncode, 0, made.stderr)
        stored = self.falafel(etcd, "set", "greeting", "hello", **options)
        self.assertEqual(stored.returncode, 0, stored.stderr)
        self.assertEqual(self.falafel(etcd, "keys", **options).stdout, "greeting\n")

    def assert_refused(self, done, reason):
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(reason, done.stderr)

    def test_a_password_over_tls(self):
        etcd = self.start_etcd()
        etcd.call("auth/user/add", name="root", password=PASSWORD)
        etcd.call("auth/role/add", name="root")
        etcd.call("auth/user/grant", user="root", role="root")
        etcd.call("auth/enable")
        password = pathlib.Path(self.directory, "password")
        password.write_text(PASSWORD + "\n")
        user = {"user": "root", "password_file": str(password)}
        self.use(etcd, **user)
        self.assert_refused(self.falafel(etcd, "members"), "answers with HTTP status 4")
        password.write_text("wrong")
        self.assert_refused(self.falafel(etcd, "get", "greeting", **user), "'root' no access")

    def test_a_certificate_of_the_client(self):
        etcd = self.start_etcd("--client-cert-auth", "--trusted-ca-file",
                               self.certificates.path("ca.pem"))
        client = {"certificate": self.certificates.path("client.pem"),
                  "certificate_key": self.certificates.path("client.key")}
        self.use(etcd, **client)
        self.assert_refused(self.falafel(etcd, "members"), f"etcd at {etcd.address[8:]}")

    def test_refuses_an_etcd_that_shows_a_wrong_certificate(self):
        etcd = self.start_etcd()
        self.use(etcd)
        elsewhere = Certificates(tempfile.mkdtemp(dir=self.directory))
        self.assert_refused(self.falafel(etcd, "members", ca=elsewhere.path("ca.pem")),
                            "certificate verify failed")
        etcd.kill()
        self.certificates.sign("server", "DNS:somebody.example")
        # It cannot be asked whether it is there by the checks of this test.
        etcd.tls = ssl._create_unverified_context()
        etcd.start()
        self.assert_refused(self.falafel(etcd, "members"), "certificate verify failed")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
