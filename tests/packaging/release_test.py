#!/usr/bin/env python3
"""tools/release: what it refuses, and the archive of the sources. With --whole, releases the project as
it is committed, with its packages. Argument: the root of the project."""

import hashlib
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))

from hang_limit import HANG_LIMIT_SECONDS

ROOT = pathlib.Path(sys.argv[1]).resolve()
IS_WHOLE = "--whole" in sys.argv
del sys.argv[1:]

FILES = {
    "CMakeLists.txt": "project(falafel VERSION 1.2.3 LANGUAGES CXX)\n",
    "CHANGELOG.md": "# Changes\n\n## 1.2.3\n\nMore.\n",
    "SECURITY.md": "# Security\n\nContact: security@example.org\n",
    "cmake/archived_revision.txt": "$Format:%(describe:tags)$\n",
    ".gitattributes": "cmake/archived_revision.txt export-subst\n",
}
# Two builds from nothing take minutes each.
RELEASE_LIMIT_SECONDS = (12 if IS_WHOLE else 1) * HANG_LIMIT_SECONDS
AUTHOR = ("-c", "user.name=Author", "-c", "user.email=author@example.org")


def git(folder, *words):
    subprocess.run(["git", *AUTHOR, *words], cwd=folder, check=True, capture_output=True)


class Release(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="falafel-release-test-")
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.repository = self.folder / "repository"
        self.output = self.folder / "output"

    def commit(self, files, tag="v1.2.3"):
        for name, text in files.items():
            path = self.repository / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        git(self.repository, "init", "--quiet")
        git(self.repository, "add", "--all")
        git(self.repository, "commit", "--quiet", "--message", "All")
        git(self.repository, "tag", tag)

    def release(self, tag, *options):
        return subprocess.run([ROOT / "tools/release", tag, "--root", self.repository,
                               "--output", self.output, *options],
                              capture_output=True, text=True, timeout=RELEASE_LIMIT_SECONDS)

    def assert_refused(self, tag, reason):
        completed = self.release(tag, "--sources-only")
        self.assertEqual(completed.returncode, 2, completed.stderr)
        self.assertIn(reason, completed.stderr)

    def assert_checksums_are_right(self):
        lines = (self.output / "SHA256SUMS").read_text().splitlines()
        stated = {line.split()[1]: line.split()[0] for line in lines}
        found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest()
                 for path in self.output.iterdir() if path.name != "SHA256SUMS"}
        self.assertEqual(stated, found)
        return set(found)


class SourcesOnly(Release):
    def test_the_archive_is_that_of_the_tag(self):
        self.commit(FILES)
        (self.repository / "CHANGELOG.md").write_text("changed since")
        completed = self.release("v1.2.3", "--sources-only")
        self.assertEqual(completed.returncode, 0, completed.stderr)
        self.assertEqual(self.assert_checksums_are_right(), {"falafel-1.2.3.tar.gz"})
        with tarfile.open(self.output / "falafel-1.2.3.tar.gz") as archive:
            changes = archive.extractfile("falafel-1.2.3/CHANGELOG.md").read().decode()
            revision = archive.extractfile("falafel-1.2.3/cmake/archived_revision.txt").read().decode()
        self.assertEqual(changes, FILES["CHANGELOG.md"])
        self.assertEqual(revision, "v1.2.3\n")

    def test_a_tag_that_does_not_exist(self):
        self.commit(FILES)
        self.assert_refused("v1.2.4", "there is no tag 'v1.2.4'")

    def test_a_tag_with_another_version(self):
        self.commit(FILES, tag="v1.3.0")
        self.assert_refused("v1.3.0", "CMakeLists.txt at 'v1.3.0' states 1.2.3")

    def test_no_changes(self):
        self.commit({**FILES, "CHANGELOG.md": "# Changes\n\n## 1.2.30\n"})
        self.assert_refused("v1.2.3", "no section '## 1.2.3'")

    def test_a_contact_that_is_not_set(self):
        self.commit({**FILES, "SECURITY.md": "# Security\n\nContact: (not set)\n"})
        self.assert_refused("v1.2.3", "names no contact")

    def test_an_output_that_is_not_empty(self):
        self.commit(FILES)
        self.output.mkdir()
        (self.output / "kept").write_text("kept")
        self.assert_refused("v1.2.3", "is not an empty folder")
        self.assertEqual((self.output / "kept").read_text(), "kept")


class Whole(Release):
    def test_the_project_is_released_with_the_same_bytes_twice(self):
        subprocess.run(["git", "clone", "--quiet", ROOT, self.repository], check=True)
        security = self.repository / "SECURITY.md"
        security.write_text(security.read_text().replace("(not set)", "security@example.org"))
        git(self.repository, "commit", "--quiet", "--all", "--message", "A contact")
        git(self.repository, "tag", "--force", "v0.1.0")
        completed = self.release("v0.1.0")
        self.assertEqual(completed.returncode, 0, completed.stderr)
        names = self.assert_checksums_are_right()
        self.assertEqual({pathlib.Path(name).suffix for name in names}, {".gz", ".deb", ".whl"})


if __name__ == "__main__":
    unittest.main(defaultTest="Whole" if IS_WHOLE else "SourcesOnly")
