"""Files are whole or not there, whoever writes at the same time and whenever a process is killed."""

import errno
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from types import SimpleNamespace

import pytest

from besvm._support import files
from besvm._support.files import as_folder, claim, link, placing, sweep, whole_file, write_bytes, write_text
from besvm.selection.store import make_folder


def names(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_threads_that_write_one_file_do_not_meet(tmp_path):
    """All of them are inside at once; with one temporary name they would write into each other's file."""
    path, together = tmp_path / "a.bin", Barrier(8)

    def write(number):
        with whole_file(path) as unfinished:
            together.wait(timeout=30)
            unfinished.write_bytes(bytes([number]) * 100_000)
            together.wait(timeout=30)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    content = path.read_bytes()
    assert len(content) == 100_000
    assert len(set(content)) == 1
    assert names(tmp_path) == ["a.bin"]


def test_an_error_or_an_interrupt_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    write_text(path, "old")

    def interrupted():
        with whole_file(path) as unfinished:
            unfinished.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    monkeypatch.setattr(Path, "write_bytes", lambda *args: (_ for _ in ()).throw(OSError(28, "No space left")))
    with pytest.raises(OSError, match=r"page.html cannot be written: No space left") as caught:
        write_text(path, "new")
    assert caught.value.errno == 28
    assert path.read_text() == "old"
    assert names(tmp_path) == ["page.html"]


def test_an_interrupt_while_the_file_is_made_leaves_none(tmp_path, monkeypatch):
    def interrupt(*args):
        assert len(names(tmp_path)) == 1
        raise KeyboardInterrupt

    monkeypatch.setattr(files, "fcntl", SimpleNamespace(flock=interrupt, LOCK_EX=2))
    with pytest.raises(KeyboardInterrupt):
        write_text(tmp_path / "a.txt", "whole")
    assert names(tmp_path) == []


WRITER = """
import sys
from pathlib import Path
from besvm._support import files
from besvm._support.files import whole_file
with whole_file(Path(sys.argv[1])) as unfinished:
    unfinished.write_text("half")
    print("at work", flush=True)
    input()
"""


@pytest.mark.parametrize("start", [sweep, make_folder])
def test_leftovers_of_killed_processes_are_removed_and_nothing_else(tmp_path, start):
    others = ["mine.part", f"besvm-{'0' * 32}.part", "x.besvm-12.part", f"x.{os.getpid()}.part", "a.npy"]
    for name in others:
        (tmp_path / name).write_text("of the user")
    path = tmp_path / "b.json"
    below = tmp_path / "below" / f"x.besvm-{'0' * 32}.part"
    below.parent.mkdir()
    below.write_text("not where we write")
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        process.stdout.readline()
        with whole_file(tmp_path / "own.json") as own:
            start(tmp_path)
            assert own.exists()  # this process is at work on it
        (left,) = tmp_path.glob("b.json.*")  # and that one may still be
        process.send_signal(signal.SIGKILL)
    assert left.exists()
    start(tmp_path)
    assert names(tmp_path) == sorted([*others, below.name, "own.json"])


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
@pytest.mark.parametrize("mode", [0o600, 0o440, 0o664])
def test_a_file_that_is_replaced_hands_on_its_permissions(tmp_path, mode):
    """What was private became public, and for a moment even while it was being written."""
    path = tmp_path / "model"
    path.write_text("old")
    path.chmod(mode)
    with whole_file(path) as unfinished:
        unfinished.write_text("new")
        assert unfinished.stat().st_mode & 0o777 == 0o600
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == mode


def test_a_link_stays_one(tmp_path):
    (tmp_path / "other").mkdir()
    link, missing = tmp_path / "link", tmp_path / "missing"
    link.symlink_to(Path("other") / "file")
    missing.symlink_to(tmp_path / "nowhere" / "file")
    for path in (link, link, missing):
        write_text(path, "whole")
        assert path.is_symlink()
        assert path.read_text() == "whole"
    assert names(tmp_path) == ["file", "file", "link", "missing"]


def test_folders_are_made(tmp_path):
    write_bytes(tmp_path / "a" / "b" / "c.bin", b"c")
    assert (tmp_path / "a" / "b" / "c.bin").read_bytes() == b"c"


def test_where_the_system_has_no_such_locks(tmp_path, monkeypatch):
    """As on Windows, where a file that is open can be neither removed nor renamed."""
    monkeypatch.setattr(files, "fcntl", None)
    write_text(tmp_path / "a.txt", "whole")
    (tmp_path / f"b.txt.besvm-{'0' * 32}.part").write_text("half")
    sweep(tmp_path)
    assert names(tmp_path) == ["a.txt"]


def test_only_a_new_or_empty_folder_is_claimed_and_then_stays_ours(tmp_path):
    claim("--out", tmp_path / "new" / "one", ".ours")
    (tmp_path / "new" / "one" / "result.csv").touch()
    claim("--out", tmp_path / "new" / "one", ".ours")
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / ".DS_Store").touch()
    claim("--out", tmp_path / "empty", ".ours")
    assert names(tmp_path / "empty") == [".DS_Store", ".ours"]
    with pytest.raises(ValueError, match=r"--out must be a new or empty folder.*which holds '(new|empty)'"):
        claim("--out", tmp_path, ".ours")
    assert not (tmp_path / ".ours").exists()


def test_what_is_no_folder_is_refused(tmp_path):
    (tmp_path / "file").touch()
    for wrong in ("", tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(ValueError, match="folder must be a folder"):
            as_folder("folder", wrong)
    assert as_folder("folder", "~/a") == Path.home() / "a"


@pytest.mark.parametrize("links", [True, False])
def test_a_new_file_replaces_no_other(tmp_path, monkeypatch, links):
    """Even where the file system has no links."""
    if not links:

        def without(*_):
            raise PermissionError(errno.EPERM, "Operation not permitted")

        monkeypatch.setattr(os, "link", without)
    path, other = tmp_path / "mine.txt", tmp_path / "other.txt"
    other.write_text("before")
    with placing(path, link):
        write_text(path, "one")
        with pytest.raises(FileExistsError):
            write_text(path, "two")
        write_text(other, "after")
    assert (path.read_text(), other.read_text()) == ("one", "after")
    write_text(path, "three")
    assert path.read_text() == "three"
    assert sorted(tmp_path.iterdir()) == [path, other]


def test_what_is_no_character_is_replaced(tmp_path):
    write_text(tmp_path / "t.txt", "caf\udce9")
    assert (tmp_path / "t.txt").read_bytes() == b"caf?"
