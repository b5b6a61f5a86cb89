"""Take away from a child process all that a component does not need. Linux only.

Every step either holds or raises: a child that could not be confined never runs student code.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import resource
import stat
import struct
import tempfile
from collections.abc import Sequence
from typing import Any

from autograder.sandbox.profile import Budget, Setup, Task

_libc = ctypes.CDLL(None, use_errno=True)

CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWPID = 0x00020000, 0x08000000, 0x20000000
_MS_NOSUID, _MS_NODEV = 2, 4
_MNT_DETACH = 2
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE = 1, 4
_PR_SET_KEEPCAPS, _PR_SET_SECCOMP, _PR_CAPBSET_DROP = 8, 22, 24
_PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL = 38, 47, 4
_SECCOMP_MODE_FILTER = 2
_SYS_LANDLOCK_CREATE, _SYS_LANDLOCK_ADD, _SYS_LANDLOCK_RESTRICT = 444, 445, 446
_SYS_CAPSET = {"x86_64": 126, "aarch64": 91}
_CAP_DAC_READ_SEARCH = 1 << 2
_LANDLOCK_READ = (1 << 2) | (1 << 3)
_LANDLOCK_FILE = (1 << 0) | (1 << 1) | (1 << 2) | (1 << 14)
_LANDLOCK_SCRATCH = (
    _LANDLOCK_READ | (1 << 1) | (1 << 4) | (1 << 5) | (1 << 7) | (1 << 8) | (1 << 14)
)
_SIGKILL = 9
_MADV_HUGEPAGE, _MADV_COLLAPSE = 14, 25
_SCRATCH_BYTES = 16 * 1024 * 1024

# All that Python, torch and numpy need once they are imported. No fork, exec, socket but a pair
# that leads nowhere else, signal to another process, lock, key ring, memfd, io_uring, ptrace, chmod
# or link. Nor what tells which pages of files are in memory, or puts them there by name: children
# share it (fadvise, mincore, cachestat, readahead, getrusage, preadv2, sync_file_range). sysinfo
# tells how much memory is free; the C library takes no refusal of it, and goes by what was there.
# Nor openat2, which tells which names were looked up lately.
_ALLOWED = """
read readv pread64 preadv write writev pwrite64 pwritev lseek close close_range
open openat stat lstat fstat newfstatat statx access faccessat faccessat2
readlink readlinkat getdents getdents64 getcwd chdir fchdir
mkdir mkdirat unlink unlinkat rmdir rename renameat renameat2 ftruncate fsync fdatasync umask
dup dup2 dup3 pipe pipe2 poll ppoll select pselect6
epoll_create1 epoll_ctl epoll_wait epoll_pwait eventfd2
mmap mprotect mremap munmap brk mlock munlock membarrier
set_robust_list rseq set_tid_address arch_prctl sched_yield getcpu
rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending sigaltstack restart_syscall
nanosleep gettimeofday time times
getpid gettid getppid getpgrp getuid geteuid getgid getegid getresuid getresgid
getgroups getrlimit getrandom sysinfo uname
exit exit_group
"""

_CLONE_THREAD = 0x00010000
# F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC.
_FCNTL = (0, 1, 2, 3, 4, 1030)
# TCGETS, FIONREAD, FIONBIO, FIOCLEX, FIONCLEX.
_IOCTL = (0x5401, 0x541B, 0x5421, 0x5451, 0x5450)
# asyncio wakes itself by a pair of sockets.
_AF_UNIX, _SOCK_STREAM, _SOCK_TYPE = 1, 1, 0xF
_PR_SET_NAME, _PR_GET_NAME = 15, 16
# Asked about process 0, which is the one that asks; of any other they say that it is there.
_OWN_PROCESS = "getpgid getsid prlimit64 sched_getaffinity sched_getparam sched_getscheduler"
# The numbers of clocks; beyond them are those of other processes, and of their computing time.
_CLOCKS = 12
# A place in one's own memory, and not in a file that others have mapped, too.
_FUTEX_PRIVATE = 128
# Normal, random, sequential, don't need, free, (no) huge pages, (no) dump, wipe or keep on fork: of
# one's own memory. Others put pages of files into memory, or out of it.
_ADVICE = (0, 1, 2, 4, 8, 14, 15, 16, 17, 18, 19)

# Whose processes children of tier 3 are, one user each: above all who have a name, and within what
# a container is usually given.
JAIL_UIDS = range(65000, 65500)
_JAIL_TASKS = 128


class ConfinementError(Exception):
    """The kernel refused a step of the confinement."""


def confine(setup: Setup, rules: int, program: bytes, task: Task, wire: int) -> None:
    """Confine this process, which keeps one descriptor, the wire.

    Args:
        setup: how children are confined.
        rules: made by `reading_rules`, on tiers 1 and 2.
        program: made by `seccomp_program`.
        task: what the child is for.
        wire: the descriptor.
    """
    if setup.tier == 0:
        _close_descriptors(wire)
        return
    # Limits are read from /proc, so they come before it is hidden.
    _limit_resources(task.profile.budget)
    if setup.tier == 3:
        # Its user has no other process.
        resource.setrlimit(resource.RLIMIT_NPROC, (_JAIL_TASKS, _JAIL_TASKS))
        _close_descriptors(wire)
        os.chdir(setup.jail)
        os.chroot(".")
        os.chdir(task.scratch)
        os.chown(".", task.user, task.user)
        change_user(task.user)
        _drop_privileges()
    else:
        if setup.tier == 1:
            unshare(CLONE_NEWNS | CLONE_NEWIPC)
            _mount_scratch(task.scratch)
        _close_descriptors(wire, rules)
        os.chdir(task.scratch)
        if setup.uid:
            # Its interpreter may lie below a closed home folder. Landlock still bounds what can be
            # opened.
            change_user(setup.uid, keep_reading=True)
        _drop_privileges(keep_reading=setup.uid != 0)
        _restrict_files(rules, setup.around, task.scratch)
    _restrict_calls(program)


def _call(what: str, result: int) -> int:
    if result < 0:
        raise ConfinementError(f"{what}: {os.strerror(ctypes.get_errno())}")
    return result


def _prctl(what: str, option: int, value: Any, pointer: Any = 0) -> None:
    _call(what, _libc.prctl(option, value, pointer, 0, 0))


def unshare(flags: int) -> None:
    """Enter new namespaces."""
    _call("unshare", _libc.unshare(flags))


def setns(descriptor: int, kind: int) -> None:
    """Enter an existing namespace."""
    _call("setns", _libc.setns(descriptor, kind))


def change_user(uid: int, keep_reading: bool = False) -> None:
    """Become a user with no group, who may keep the right to read what root can."""
    _prctl("keepcaps", _PR_SET_KEEPCAPS, int(keep_reading))
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def die_with_parent() -> None:
    """Have this process killed when its parent ends, however that happens."""
    _prctl("pdeathsig", _PR_SET_PDEATHSIG, _SIGKILL)


def _mount_scratch(path: str) -> None:
    """Hide /proc and mount a small tmpfs at `path`, in a mount namespace of this process."""
    _call("umount /proc", _libc.umount2(b"/proc", _MNT_DETACH))
    options = f"size={_SCRATCH_BYTES},nr_inodes=1024,mode=700".encode()
    flags = _MS_NOSUID | _MS_NODEV
    _call("mount scratch", _libc.mount(b"tmpfs", path.encode(), b"tmpfs", flags, options))


def _close_descriptors(*keep: int) -> None:
    """Close every descriptor but these, and put /dev/null on 0, 1 and 2."""
    null = os.open("/dev/null", os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    first = 3
    for descriptor in sorted(keep):
        os.closerange(first, descriptor)
        first = descriptor + 1
    os.closerange(first, 4096)


def _limit_resources(budget: Budget) -> None:
    """Set rlimits. The address space that is mapped already comes on top of the memory limit."""
    # Of a sandbox that holds too much memory, the kernel is to end this child, not the fork server.
    # Plain system calls: a file object costs every child more than all the rest of this.
    score = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
    os.write(score, b"1000")
    os.close(score)
    statm = os.open("/proc/self/statm", os.O_RDONLY)
    mapped = int(os.read(statm, 200).split()[0]) * resource.getpagesize()
    os.close(statm)
    for kind, value in (
        (resource.RLIMIT_AS, mapped + budget.memory),
        (resource.RLIMIT_CPU, budget.cpu_s + 1),
        (resource.RLIMIT_FSIZE, budget.file_size),
        (resource.RLIMIT_NOFILE, 64),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (value, value))


def _drop_privileges(keep_reading: bool = False) -> None:
    """Drop every capability, forbid gaining any, and die with the parent."""
    die_with_parent()
    _prctl("dumpable", _PR_SET_DUMPABLE, 0)
    _libc.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    for capability in range(64):
        # Fails beyond the last capability, and where there is no right to drop; the sets that
        # matter are cleared next.
        _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
    kept = _CAP_DAC_READ_SEARCH if keep_reading else 0
    header = struct.pack("<Ii", 0x20080522, 0)
    data = struct.pack("<6I", kept, kept, 0, 0, 0, 0)
    _call("capset", _libc.syscall(_SYS_CAPSET[os.uname().machine], header, data))
    _prctl("no_new_privs", _PR_SET_NO_NEW_PRIVS, 1)


def landlock_version() -> int:
    """Return the kernel's Landlock version, 0 where there is none."""
    version: int = _libc.syscall(_SYS_LANDLOCK_CREATE, None, ctypes.c_size_t(0), 1)
    return max(0, version)


def reading_rules(readable: Sequence[str], scratches: str) -> int:
    """Return a ruleset, a descriptor, by which only these and the scratch folders can be read.

    It is made once, because a long list of paths takes milliseconds. What it leaves to a child,
    `_restrict_files` bounds further.
    """
    ruleset = _ruleset(_LANDLOCK_READ, 0, 0)
    for path in (*readable, scratches):
        _allow(ruleset, path, _LANDLOCK_READ)
    return ruleset


def _restrict_files(rules: int, around: Sequence[str], scratch: str) -> None:
    """Let only what `rules` allows be read, only `scratch` be written; no TCP, no signals outside.

    Args:
        rules: made by `reading_rules`; it is closed.
        around: folders that hold all that may be read, and no scratch folder.
        scratch: the child's own folder.
    """
    version = landlock_version()
    handled = (1 << min(13 + (version >= 2) + (version >= 3), 16)) - 1
    if version >= 5:
        handled |= 1 << 15
    ruleset = _ruleset(handled, 3 if version >= 4 else 0, 3 if version >= 6 else 0)
    for path in around:
        _allow(ruleset, path, _LANDLOCK_READ & handled)
    _allow(ruleset, scratch, _LANDLOCK_SCRATCH & handled)
    # Each of them alone would leave too much; what may be done is what both allow.
    for layer in (rules, ruleset):
        _call("landlock", _libc.syscall(_SYS_LANDLOCK_RESTRICT, layer, 0))
        os.close(layer)


def _ruleset(handled: int, network: int, scoped: int) -> int:
    if landlock_version() < 1:
        raise ConfinementError("this kernel has no Landlock")
    attributes = struct.pack("<QQQ", handled, network, scoped)
    return _call(
        "landlock ruleset",
        _libc.syscall(_SYS_LANDLOCK_CREATE, attributes, ctypes.c_size_t(len(attributes)), 0),
    )


def _allow(ruleset: int, path: str, access: int) -> None:
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
        access &= _LANDLOCK_FILE
    rule = struct.pack("<Qi", access, descriptor)
    _call(f"landlock rule {path}", _libc.syscall(_SYS_LANDLOCK_ADD, ruleset, 1, rule, 0))
    os.close(descriptor)


def seccomp_program() -> bytes:
    """Return which system calls a child may do on this machine, compiled. Judge's side.

    Raises:
        ImportError, OSError: libseccomp or its binding is not there.
    """
    import pyseccomp as seccomp

    def equal(argument: int, value: int) -> object:
        return seccomp.Arg(argument, seccomp.EQ, value)

    rules: list[tuple[Any, ...]] = [(name,) for name in _ALLOWED.split()]
    rules += [("madvise", equal(2, advice)) for advice in _ADVICE]
    rules += [("fcntl", equal(1, command)) for command in _FCNTL]
    rules += [("ioctl", equal(1, command)) for command in _IOCTL]
    rules += [("prctl", equal(0, option)) for option in (_PR_SET_NAME, _PR_GET_NAME)]
    rules += [
        ("clone", seccomp.Arg(0, seccomp.MASKED_EQ, _CLONE_THREAD, _CLONE_THREAD)),
        (
            "socketpair",
            equal(0, _AF_UNIX),
            seccomp.Arg(1, seccomp.MASKED_EQ, _SOCK_TYPE, _SOCK_STREAM),
        ),
        # No flags, which ask for more than bytes, and no address.
        ("sendto", equal(3, 0), equal(4, 0)),
        ("recvfrom", equal(3, 0), equal(4, 0)),
        ("futex", seccomp.Arg(1, seccomp.MASKED_EQ, _FUTEX_PRIVATE, _FUTEX_PRIVATE)),
    ]
    rules += [(name, equal(0, 0)) for name in _OWN_PROCESS.split()]
    for name in ("clock_gettime", "clock_getres", "clock_nanosleep"):
        rules += [(name, equal(0, clock)) for clock in range(_CLOCKS)]
    program = seccomp.SyscallFilter(seccomp.ERRNO(errno.EPERM))
    for name, *arguments in rules:
        # It fails for a name that this architecture does not have.
        with contextlib.suppress(OSError):
            program.add_rule(seccomp.ALLOW, name, *arguments)
    # glibc falls back to clone, whose flags a filter can see.
    program.add_rule(seccomp.ERRNO(errno.ENOSYS), "clone3")
    # glibc waits for a thread's end by a futex that is not private: it looks again, and again.
    shared = seccomp.Arg(1, seccomp.MASKED_EQ, _FUTEX_PRIVATE, 0)
    program.add_rule(seccomp.ERRNO(errno.EAGAIN), "futex", shared)
    with tempfile.TemporaryFile() as file:
        program.export_bpf(file)
        file.seek(0)
        return file.read()


def _restrict_calls(program: bytes) -> None:
    """Install a seccomp filter (a compiled BPF program)."""
    buffer = ctypes.create_string_buffer(program, len(program))
    filter_ = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(buffer))
    _prctl("seccomp", _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, filter_)


def gather_pages() -> None:
    """Move this process's memory into huge pages, which makes every fork of it cheaper.

    A child then copies and frees a page table of hundreds of entries instead of tens of thousands.
    Where the kernel cannot do it, nothing is lost but speed.
    """
    huge = 2 * 1024 * 1024
    with open("/proc/self/maps") as maps:
        regions = [line.split() for line in maps]
    for span, mode, _, _, inode, *_ in regions:
        if mode != "rw-p" or inode != "0":
            continue
        start, end = (int(part, 16) for part in span.split("-"))
        start, end = -(-start // huge) * huge, end // huge * huge
        if end > start:
            for advice in (_MADV_HUGEPAGE, _MADV_COLLAPSE):
                _libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), advice)
