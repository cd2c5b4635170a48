#!/usr/bin/env python3
"""Builds the Debian package, installs it into an empty root folder, and serves from there. Runs as
root, or as root of a user namespace. Argument: the build directory."""

import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

from debian_package import HANG_LIMIT_SECONDS, made_package, run  # noqa: E402

BUILD = pathlib.Path(sys.argv[1]).resolve()
del sys.argv[1]

FILES = {
    "/etc/falafel/falafel.conf",
    "/usr/bin/falafel",
    *(f"/usr/lib/falafel/simulated_verbs/{name}"
      for name in ("libibverbs.so.1", "librdmacm.so.1", "run")),
    "/usr/lib/systemd/system/falafel.service",
    "/usr/lib/sysusers.d/falafel.conf",
    "/usr/share/bash-completion/completions/falafel",
    "/usr/share/doc/falafel/copyright",
    "/usr/share/doc/falafel/grafana-dashboard.json",
    *(f"/usr/share/man/man1/falafel{command}.1"
      for command in ("", "-acceptance", "-bench", "-del", "-dump", "-get", "-keys", "-load", "-members",
                      "-serve", "-serve-memcached", "-set", "-stat", "-top")),
}


class Root:
    """An empty root folder with nothing but dpkg's database. The scripts of packages run with the
    programs of this machine and $DPKG_ROOT."""

    def __init__(self, path):
        self.path = path
        (path / "var/lib/dpkg/updates").mkdir(parents=True)
        (path / "var/lib/dpkg/info").mkdir()
        (path / "var/lib/dpkg/status").touch()
        (path / "etc").mkdir()

    def dpkg(self, *words):
        # Dependencies are on this machine, which test_dependencies_are_packages checks.
        as_root = [] if os.geteuid() == 0 else ["unshare", "--map-root-user"]
        run(*as_root, "dpkg", f"--root={self.path}", "--log=/dev/null", "--force-depends",
            "--force-script-chrootless", *words)

    def files(self):
        found = (f"/{path.relative_to(self.path)}" for path in self.path.rglob("*")
                 if not path.is_dir())
        return {path for path in found if not path.startswith("/var/lib/dpkg/")}

    def read(self, path):
        return (self.path / path.lstrip("/")).read_text()

    def in_root(self, command):
        """The command with its absolute paths in this root."""
        return [f"{self.path}{word}" if word.startswith("/") else word
                for word in shlex.split(command)]


class DebianPackage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.package = made_package(BUILD)

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="falafel-package-")
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.root = Root(self.folder / "root")

    def install(self):
        self.root.dpkg("--install", self.package)

    def test_a_clean_root_gets_all_files_and_the_user(self):
        self.install()
        self.assertEqual(self.root.files() & FILES, FILES)
        made_by_sysusers = {"/etc/passwd", "/etc/group", "/etc/shadow", "/etc/gshadow",
                            "/etc/.pwd.lock"}
        self.assertLessEqual(self.root.files() - FILES, made_by_sysusers)
        self.assertRegex(self.root.read("/etc/passwd"), r"(?m)^falafel:.*/nologin$")
        self.assertRegex(self.root.read("/etc/group"), r"(?m)^falafel:")

    def test_removal_keeps_the_settings_and_purging_removes_them(self):
        self.install()
        self.root.dpkg("--remove", "falafel")
        self.assertEqual(self.root.files() & FILES, {"/etc/falafel/falafel.conf"})
        self.root.dpkg("--purge", "falafel")
        self.assertEqual(self.root.files() & FILES, set())

    def test_changed_settings_survive_an_upgrade(self):
        self.install()
        settings = self.root.path / "etc/falafel/falafel.conf"
        settings.write_text("[serve]\nmemory = 134217728\n")
        self.install()
        self.assertEqual(settings.read_text(), "[serve]\nmemory = 134217728\n")

    def test_the_installed_service_serves(self):
        self.install()
        unit = self.root.read("/usr/lib/systemd/system/falafel.service")
        command = self.root.in_root(re.search(r"(?m)^ExecStart=(.*)$", unit)[1])
        program = self.root.path / "usr/bin/falafel"
        environment = {**os.environ, "FALAFEL_DIRECTORY": str(self.folder / "run")}
        server = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        try:
            self.assertRegex(server.stdout.readline(), r"^serving 'falafel' .*: \d+ bytes")
            run(program, "set", "greeting", "hello", env=environment)
            self.assertEqual(run(program, "get", "greeting", env=environment), "hello")
        finally:
            server.terminate()
            server.communicate(timeout=HANG_LIMIT_SECONDS)
        self.assertEqual(server.returncode, 0)

    @unittest.skipUnless(os.geteuid() == 0, "needs several users")
    def test_members_of_the_group_may_connect(self):
        self.install()
        self.folder.chmod(0o755)
        unit = dict(re.findall(r"(?m)^(\w+)=(.*)$",
                               self.root.read("/usr/lib/systemd/system/falafel.service")))
        for name in unit["RuntimeDirectory"].split():
            folder = self.folder / "run" / name
            folder.mkdir(parents=True)
            folder.chmod(int(unit["RuntimeDirectoryMode"], 8))
            os.chown(folder, 1, 1)
        program = self.root.path / "usr/bin/falafel"
        for parent in (self.root.path, program):
            parent.chmod(0o755)
        environment = {**os.environ, "FALAFEL_DIRECTORY": str(self.folder / "run/falafel")}
        server = subprocess.Popen([program, "serve", "--memory", "64MiB"], env=environment, user=1,
                                  group=1, extra_groups=[], umask=int(unit["UMask"], 8),
                                  stdout=subprocess.PIPE, text=True)
        try:
            self.assertTrue(server.stdout.readline().startswith("serving"))
            run(program, "set", "key", "value", env=environment, user=2, group=2, extra_groups=[1])
            stranger = subprocess.run([program, "get", "key"], env=environment, user=2, group=2,
                                      extra_groups=[], capture_output=True, timeout=HANG_LIMIT_SECONDS)
            self.assertEqual(stranger.returncode, 4)
        finally:
            server.terminate()
            server.communicate(timeout=HANG_LIMIT_SECONDS)

    def test_the_unit_is_valid(self):
        self.install()
        # systemd-analyze looks for the program and the manual on this machine.
        unit = self.root.read("/usr/lib/systemd/system/falafel.service")
        copy = self.folder / "falafel.service"
        copy.write_text(unit.replace("/usr/bin/", f"{self.root.path}/usr/bin/"))
        verified = subprocess.run(["systemd-analyze", "verify", "--man=no", copy],
                                  capture_output=True, text=True, timeout=HANG_LIMIT_SECONDS)
        about_this_unit = [line for line in verified.stderr.splitlines() if "falafel" in line]
        self.assertEqual(about_this_unit, [])

    def test_the_settings_name_options_of_serve(self):
        self.install()
        settings = self.root.read("/etc/falafel/falafel.conf")
        options = run(self.root.path / "usr/bin/falafel", "serve", "--help")
        names = re.findall(r"(?m)^(?:# )?([a-z-]+) = ", settings)
        self.assertIn("memory", names)
        for name in names:
            self.assertIn(f"--{name} ", options)

    def test_dependencies_are_packages(self):
        depends = run("dpkg-deb", "--field", self.package, "Depends")
        for name in ("libc6", "libfmt9", "systemd | systemd-standalone-sysusers"):
            self.assertIn(name, depends)
        run("dpkg", "--dry-run", "--install", self.package)

    def test_man_pages_describe_commands_and_options(self):
        self.install()
        pages = self.root.path / "usr/share/man/man1"
        for page in pages.iterdir():
            self.assertIn(f"{page.stem} - in-memory key-value store", run("lexgrog", page))
        self.assertIn("serve", (pages / "falafel.1").read_text())
        self.assertIn(r"\fB\-\-memory\fR", (pages / "falafel-serve.1").read_text())

    def completions(self, *words):
        """Returns the words that bash offers for the last word."""
        script = ('source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _falafel;'
                  ' printf "%s\\n" "${COMPREPLY[@]}"')
        completion = self.root.path / "usr/share/bash-completion/completions/falafel"
        return run("bash", "-c", script, completion, self.root.path / "usr/bin/falafel",
                   *words).split()

    def test_bash_completes_commands_and_options(self):
        self.install()
        self.assertEqual(self.completions("fu"), ["fuzz"])
        self.assertLessEqual({"get", "set", "del", "stat", "fuzz"}, set(self.completions("")))
        self.assertEqual(self.completions("serve", "--mem"), ["--memory", "--memory-file"])
        self.assertEqual(self.completions("--conf"), ["--config"])
        self.assertEqual(self.completions("get", "--mem"), [])


if __name__ == "__main__":
    unittest.main()
