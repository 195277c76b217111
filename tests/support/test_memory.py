"""What is free, read from trees of files that stand for /proc and /sys."""

from pathlib import Path

import pytest

from besvm._support.memory import available_memory, is_memory

GB = 10**9


@pytest.fixture
def system(tmp_path):
    """A machine with 64 GB free; call it with files and their contents to add some."""

    def add(**files):
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(str(content))
        return tmp_path

    add(**{"proc/meminfo": "MemTotal: 99 kB\nMemAvailable:   64000000 kB\n"})
    return add


def group(place, version=2, limit="max", used=0, cached=0):
    top = f"sys/fs/cgroup/{place}" if version == 2 else f"sys/fs/cgroup/memory/{place}"
    if version == 2:
        return {
            f"{top}/memory.max": limit,
            f"{top}/memory.current": used,
            f"{top}/memory.stat": f"anon 5\nactive_file 7\ninactive_file {cached}\n",
        }
    return {
        f"{top}/memory.limit_in_bytes": 9223372036854771712 if limit == "max" else limit,
        f"{top}/memory.usage_in_bytes": used,
        f"{top}/memory.stat": f"inactive_file 3\ntotal_inactive_file {cached}\n",
    }


def test_a_machine_without_limits(system):
    assert available_memory(system()) == 64 * 10**9 * 1024 // 1000
    root = system(**{"proc/self/cgroup": "0::/user.slice\n"}, **group("user.slice"), **group(""))
    assert available_memory(root) == 64_000_000 * 1024


@pytest.mark.parametrize("version", [1, 2])
def test_a_limit_is_seen_at_every_height(system, version):
    """As of a job of SLURM, or of a service of systemd: the limit is on the group of the process or on one above."""
    job, line = "slurm/job_1/step_0", "0::/slurm/job_1/step_0\n"
    if version == 1:
        line = "7:cpu,cpuacct:/\n4:memory:/slurm/job_1/step_0\n0::/\n"
    root = system(**{"proc/self/cgroup": line}, **group(job, version), **group("", version))
    assert available_memory(root) > 60 * GB
    root = system(**group("slurm/job_1", version, limit=8 * GB, used=3 * GB))
    assert available_memory(root) == 5 * GB
    root = system(**group(job, version, limit=6 * GB, used=2 * GB))
    assert available_memory(root) == 4 * GB
    root = system(**group("", version, limit=10 * GB, used=9 * GB))
    assert available_memory(root) == 1 * GB


@pytest.mark.parametrize("version", [1, 2])
def test_files_that_are_only_cached_count_as_free(system, version):
    line = "0::/a\n" if version == 2 else "4:memory:/a\n"
    root = system(**{"proc/self/cgroup": line}, **group("a", version, limit=8 * GB, used=7 * GB, cached=5 * GB))
    assert available_memory(root) == 6 * GB
    root = system(**group("a", version, limit=8 * GB, used=9 * GB))
    assert available_memory(root) == 0


def test_a_container_that_sees_only_its_own_group(system):
    """Its name is the machine's, but where that should be there is nothing, and the limit stands at the top."""
    root = system(**{"proc/self/cgroup": "4:memory:/docker/0123\n"}, **group("", 1, limit=2 * GB, used=GB))
    assert available_memory(root) == GB


def test_a_group_that_is_slowed_down_before_it_is_full(system):
    root = system(
        **{"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.high": 3 * GB}, **group("a", limit=9 * GB, used=GB)
    )
    assert available_memory(root) == 2 * GB


MOUNTS = """\
/dev/vda / ext4 rw,relatime 0 0
tmpfs /tmp tmpfs rw,size=12g 0 0
/dev/vdb /tmp/large ext4 rw 0 0
none /a\\040b ramfs rw 0 0
"""


def test_a_folder_in_memory_is_told_from_a_disk(system):
    root = system(**{"proc/self/mounts": MOUNTS})
    found = {
        name: is_memory(Path(name), root) for name in ("/", "/tmp", "/tmp/x/y", "/tmp/large/x", "/a b/c", "/tmpfs")
    }
    assert found == {"/": False, "/tmp": True, "/tmp/x/y": True, "/tmp/large/x": False, "/a b/c": True, "/tmpfs": False}
    assert not is_memory(Path("/tmp"), system(**{"proc/self/mounts": ""}))  # where the system does not tell


def test_a_mount_point_that_is_not_in_utf_8(tmp_path):
    (tmp_path / "proc/self").mkdir(parents=True)
    mounts = b"/dev/sdb1 /media/m\xfcller vfat rw 0 0\ntmpfs /quick\\040one tmpfs rw 0 0\n"
    (tmp_path / "proc/self/mounts").write_bytes(mounts)
    assert is_memory(Path("/quick one/mine"), tmp_path)
    assert not is_memory(Path("/media"), tmp_path)
