"""The files that a change touches, and an order that the commit fixes, for files that only a part of
the runs examines."""

import hashlib
import subprocess

BASE = "origin/main"


def git(*words, root="."):
    """The output of git; empty if it fails."""
    run = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    return run.stdout if run.returncode == 0 else ""


def touched_files(root="."):
    """Files that differ from the commit where this branch left the main one; None without such a
    commit, as in a fresh clone of the main branch."""
    head = head_of(root)
    base = git("merge-base", "HEAD", BASE, root=root).strip()
    changed = git("status", "--porcelain", "--untracked-files=all", root=root).splitlines()
    if not head or not base or (base == head and not changed):
        return None
    return git("diff", "--name-only", base, root=root).split() + [line[3:] for line in changed]


def touched_or_drawn(root, names):
    """The names of files that the change touches; without a change, a tenth, which the commit draws."""
    files = touched_files(root)
    if files is not None:
        return set(names).intersection(files)
    head = head_of(root)
    return set(sorted(names, key=lambda name: draw_order(head, name))[:len(names) // 10 + 1])


def head_of(root):
    return git("rev-parse", "HEAD", root=root).strip()


def draw_order(commit, name):
    """A key for sorting, which differs from commit to commit."""
    return hashlib.sha256(f"{commit} {name}".encode()).digest()
