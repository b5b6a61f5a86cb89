"""Which system calls a child may do. Judge's side; nothing is applied here."""

from __future__ import annotations

import tempfile

# All that Python, torch and numpy need once they are imported. No fork, exec, socket but a pair
# that leads nowhere else, signal to another process, lock, key ring, memfd, io_uring, ptrace, chmod
# or link. Nor what tells which pages of files are in memory, or puts them there by name: children
# share it (fadvise, mincore, cachestat, readahead, getrusage, preadv2, sync_file_range). sysinfo
# tells how much memory is free; the C library takes no refusal of it, and goes by what was there.
_ALLOWED = """
read readv pread64 preadv write writev pwrite64 pwritev lseek close close_range
open openat openat2 stat lstat fstat newfstatat statx access faccessat faccessat2
readlink readlinkat getdents getdents64 getcwd chdir fchdir
mkdir mkdirat unlink unlinkat rmdir rename renameat renameat2 ftruncate fsync fdatasync umask
dup dup2 dup3 pipe pipe2 poll ppoll select pselect6
epoll_create1 epoll_ctl epoll_wait epoll_pwait eventfd2
mmap mprotect mremap munmap brk mlock munlock membarrier
futex set_robust_list get_robust_list rseq set_tid_address arch_prctl sched_yield
sched_getaffinity sched_getparam sched_getscheduler getcpu
rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending sigaltstack restart_syscall
clock_gettime clock_getres clock_nanosleep nanosleep gettimeofday time times
getpid gettid getppid getpgrp getpgid getsid getuid geteuid getgid getegid getresuid getresgid
getgroups getrlimit getrandom sysinfo uname
exit exit_group
"""

_CLONE_THREAD = 0x00010000
_FCNTL = {
    "F_DUPFD": 0,
    "F_GETFD": 1,
    "F_SETFD": 2,
    "F_GETFL": 3,
    "F_SETFL": 4,
    "F_DUPFD_CLOEXEC": 1030,
}
_IOCTL = {
    "TCGETS": 0x5401,
    "FIONREAD": 0x541B,
    "FIONBIO": 0x5421,
    "FIOCLEX": 0x5451,
    "FIONCLEX": 0x5450,
}
# asyncio wakes itself by a pair of sockets.
_AF_UNIX, _SOCK_STREAM, _SOCK_TYPE = 1, 1, 0xF
_PR_SET_NAME, _PR_GET_NAME = 15, 16
# Normal, random, sequential, don't need, free, (no) huge pages, (no) dump, wipe or keep on fork: of
# one's own memory. Others put pages of files into memory, or out of it.
_ADVICE = (0, 1, 2, 4, 8, 14, 15, 16, 17, 18, 19)


def seccomp_program() -> bytes:
    """Compile the filter for this machine.

    Raises:
        ImportError, OSError: libseccomp or its binding is not there.
    """
    import errno

    import pyseccomp as seccomp

    program = seccomp.SyscallFilter(seccomp.ERRNO(errno.EPERM))
    for name in _ALLOWED.split():
        _allow(seccomp, program, name)
    for advice in _ADVICE:
        _allow(seccomp, program, "madvise", seccomp.Arg(2, seccomp.EQ, advice))
    threads = seccomp.Arg(0, seccomp.MASKED_EQ, _CLONE_THREAD, _CLONE_THREAD)
    _allow(seccomp, program, "clone", threads)
    # glibc falls back to clone, whose flags a filter can see.
    program.add_rule(seccomp.ERRNO(errno.ENOSYS), "clone3")
    for value in _FCNTL.values():
        _allow(seccomp, program, "fcntl", seccomp.Arg(1, seccomp.EQ, value))
    for value in _IOCTL.values():
        _allow(seccomp, program, "ioctl", seccomp.Arg(1, seccomp.EQ, value))
    kind = seccomp.Arg(1, seccomp.MASKED_EQ, _SOCK_TYPE, _SOCK_STREAM)
    _allow(seccomp, program, "socketpair", seccomp.Arg(0, seccomp.EQ, _AF_UNIX), kind)
    for name in ("sendto", "recvfrom"):
        # No flags, which ask for more than bytes, and no address.
        plain = [seccomp.Arg(number, seccomp.EQ, 0) for number in (3, 4)]
        _allow(seccomp, program, name, *plain)
    for value in (_PR_SET_NAME, _PR_GET_NAME):
        _allow(seccomp, program, "prctl", seccomp.Arg(0, seccomp.EQ, value))
    _allow(seccomp, program, "prlimit64", seccomp.Arg(0, seccomp.EQ, 0))
    with tempfile.TemporaryFile() as file:
        program.export_bpf(file)
        file.seek(0)
        return file.read()


def _allow(seccomp: object, program: object, name: str, *args: object) -> None:
    try:
        program.add_rule(seccomp.ALLOW, name, *args)  # type: ignore[attr-defined]
    except OSError:
        # A name that this architecture does not have.
        return
