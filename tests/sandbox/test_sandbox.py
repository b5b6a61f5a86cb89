"""Student code is confined on each tier, and a death costs no more than the child."""

import contextlib
import errno
import os
import re
import select
import shutil
import signal
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pyseccomp
import pytest
import torch

from autograder.api.messages import Reply, Request
from autograder.rules.forbidden import Rules
from autograder.sandbox.confine import JAIL_UIDS
from autograder.sandbox.handle import Child, ChildGone, SandboxFault
from autograder.sandbox.host import Sandbox
from autograder.sandbox.jail import Pool
from autograder.sandbox.profile import Budget, Profile
from autograder.sandbox.tiers import NotIsolated, open_sandbox
from autograder.sandbox.wire import encode_request
from tests import sources
from tests.asking import asks
from tests.conftest import BUDGET, ROOT, skip

RIGHT = sources.RIGHT.encode()


def ask(sandbox: Sandbox, source: str | bytes, **files: str) -> Reply:
    """Call layer_norm of a submission once."""
    data = source.encode() if isinstance(source, str) else source
    others = {f"{name}.py": text.encode() for name, text in files.items()}
    child = sandbox.fork("layer_norm", {"layer_norm.py": data, **others})
    try:
        loaded = child.perform(Request())
        return loaded if loaded.error else child.perform(question())
    finally:
        child.close()


def question() -> Request:
    return Request([asks("layer_norm", torch.tensor([2.0, 4.0, 6.0, 8.0]))])


def told(sandbox: Sandbox, expression: str) -> list[float]:
    """Evaluate an expression in a child that gives a number, a list of them or a bool."""
    source = f"import os, sys, torch\ndef layer_norm(x):\n    return torch.tensor({expression})\n"
    reply = ask(sandbox, source)
    assert reply.error is None, reply.error
    return reply.value.tolist()


def refused(sandbox: Sandbox, statement: str) -> str:
    """Run a statement in a child and return the kind of error that it must end in."""
    reply = ask(sandbox, f"import os, sys\ndef layer_norm(x):\n    {statement}\n    return x\n")
    assert reply.error is not None, f"{statement} worked"
    return reply.error.kind


def test_machine_code_can_be_written(sandbox: Sandbox) -> None:
    """As oneDNN and torch's compiler do, beside rules on operations, too."""
    source = (
        "import ctypes, torch\n"
        "@torch.compile(backend='aot_eager')\n"
        "def layer_norm(x):\n"
        "    return x * 2\n"
        "@ctypes.CFUNCTYPE(ctypes.c_int)\n"
        "def back(): return 1\n"
        "assert back() == 1 and torch.backends.mkldnn.enabled\n"
        "kernel = torch.ones(4, 4, 3, 3)\n"
        "assert torch.conv2d(torch.ones(1, 4, 8, 8), kernel)[0, 0, 0, 0] == 36\n"
    )
    reply = ask(sandbox, source)
    assert reply.error is None, reply.error
    assert reply.value.tolist() == [4.0, 8.0, 12.0, 16.0]


def test_the_graders_own_files_may_use_what_is_forbidden(sandbox: Sandbox) -> None:
    helper = b"import torch\ndef normalised(x):\n    return torch.layer_norm(x, x.shape)\n"
    source = b"import torch\nfrom helper import normalised\n"
    source += b"def own(x):\n    return torch.layer_norm(x, x.shape)\n"
    terms = Profile(BUDGET, Rules(("layer_norm",)), ours=("helper.py",))
    found = sandbox.fork("work", {"work.py": source, "helper.py": helper}, terms)
    x = torch.tensor([1.0, 3.0])
    reply = found.perform(Request([asks("normalised", x, cotangent=torch.ones(2))]))
    assert (reply.error, reply.forbidden) == (None, [])
    torch.testing.assert_close(reply.value, torch.layer_norm(x, [2]))
    reply = found.perform(Request([asks("own", x)]))
    assert [(use.operation, use.file, use.line) for use in reply.forbidden] == [
        ("layer_norm", "work.py", 4)
    ]
    found.close()


def test_a_child_is_held_to_its_own_rules(sandbox: Sandbox) -> None:
    source = b"import torch\ndef f(x):\n    return torch.layer_norm(x, x.shape)\n"
    for rules, used in ((Rules(), []), (Rules(("layer_norm",)), ["layer_norm"])):
        found = sandbox.fork("work", {"work.py": source}, Profile(BUDGET, rules))
        reply = found.perform(Request([asks("f", torch.ones(2))]))
        assert [use.operation for use in reply.forbidden] == used
        found.close()


def test_machine_code_of_ones_own_calls_nothing_that_is_filtered(sandbox: Sandbox) -> None:
    path = ROOT / "tests" / "hostile" / "forging" / "old_system_calls.py"
    found = sandbox.fork("work", {"work.py": path.read_bytes()})
    with pytest.raises(ChildGone, match="SIG"):
        found.perform(Request())


def test_a_right_component_answers(sandbox: Sandbox) -> None:
    reply = ask(sandbox, RIGHT)
    assert reply.value.tolist() == pytest.approx([-1.34164, -0.44721, 0.44721, 1.34164], 1e-4)


@pytest.mark.parametrize(
    "path",
    [
        ROOT / "reference" / "transformer_block" / "layer_norm.py",
        ROOT / "assignments" / "transformer_block" / "tests" / "test_layer_norm.py",
        ROOT / "autograder" / "judge" / "submission.py",
        ROOT / "README.md",
        Path("/etc/passwd"),
        # Beside what may be read.
        Path("/usr/lib/os-release"),
        Path("/dev/full"),
        Path("/proc/self/environ"),
        Path("/proc/self/io"),
        Path("/proc/1/cmdline"),
    ],
    ids=lambda path: str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path),
)
def test_what_no_child_may_read(sandbox: Sandbox, path: Path) -> None:
    kinds = ("PermissionError", "FileNotFoundError")
    assert refused(sandbox, f"open({str(path)!r}).read()") in kinds


@pytest.mark.parametrize(
    "statement",
    [
        "os.fork()",
        "os.execv('/bin/sh', ['sh'])",
        "os.posix_spawn('/bin/true', ['true'], {})",
        "if os.system('true') != 0: raise PermissionError",
        "import socket; socket.socket()",
        "os.kill(os.getppid(), 0)",
        "os.kill(1, 9) or os.kill(-1, 9)",
        "open('/tmp/left', 'w')",
        "open('/dev/shm/left', 'w')",
        "open(__import__('torch').__file__, 'a')",
        "os.listdir('/root') or os.listdir('/home')",
        "os.chmod(__file__, 0o777)",
        "os.memfd_create('x')",
        "import fcntl; fcntl.flock(0, fcntl.LOCK_EX)",
        "os.setuid(0) or os.setresuid(0, 0, 0)",
        "import ctypes; c = ctypes.CDLL(None, use_errno=True)\n"
        "    if c.unshare(0x10000000): raise PermissionError",
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (-1, -1))",
        "import autograder",
        "import autograder.judge.submission",
        "import reference",
    ],
)
def test_what_no_child_may_do(sandbox: Sandbox, statement: str) -> None:
    kinds = ("PermissionError", "FileNotFoundError", "OSError")
    kinds += ("ModuleNotFoundError", "ValueError", "ImportError")
    assert refused(sandbox, statement) in kinds


# Each asks for what no component needs, and most of them for what is not the child's own.
NEVER = """
fork vfork execve execveat ptrace process_vm_readv process_vm_writev process_madvise kcmp
kill tkill tgkill pidfd_open pidfd_getfd pidfd_send_signal
io_uring_setup io_uring_enter io_uring_register io_setup userfaultfd perf_event_open bpf
keyctl add_key request_key shmget shmat msgget semget mq_open memfd_create memfd_secret
socket connect bind listen accept accept4 sendmsg recvmsg sendmmsg recvmmsg
inotify_init1 inotify_add_watch fanotify_init flock link linkat symlink symlinkat mknod mknodat
chmod fchmod fchmodat chown fchown lchown utimensat setxattr getxattr truncate fallocate
name_to_handle_at open_by_handle_at openat2 open_tree statfs fstatfs
mount umount2 pivot_root chroot unshare setns personality seccomp landlock_create_ruleset
setuid setgid setgroups setresuid setresgid capset setpgid setsid setrlimit setpriority ioprio_set
splice tee vmsplice sendfile copy_file_range
fadvise64 mincore cachestat readahead sync_file_range getrusage preadv2 pwritev2
sched_setaffinity sched_setscheduler mbind move_pages migrate_pages syslog
timer_create setitimer alarm signalfd4 wait4 waitid
"""
# Of these calls some words are fine: to name a thread, to ask what is open, to keep memory small.
WORDS = {
    "prctl": [(option,) for option in range(1, 80) if option not in (15, 16)],
    # Typing on a terminal, signals when something can be read, shared blocks, interfaces.
    "ioctl": [(-1, word) for word in (0x5412, 0x5452, 0x40049409, 0x8912)],
    # Locks, owners, signals, leases, watched folders, sizes of pipes, seals.
    "fcntl": [
        (-1, word) for word in (5, 6, 7, 8, 9, 10, 11, 37, 1024, 1025, 1026, 1031, 1032, 1033)
    ],
    "sendto": [(-1, -1, 0, 1, 0), (-1, -1, 0, 0, -1)],
    "recvfrom": [(-1, -1, 0, 2, 0), (-1, -1, 0, 0, -1)],
    # The computing time of a process, which is named by its number.
    **{f"clock_{what}": [(-6,), (-14,)] for what in ("gettime", "getres", "nanosleep")},
}
ASKS = b"""
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def ask(calls):
    found = []
    for words in calls:
        ctypes.set_errno(0)
        libc.syscall(*map(ctypes.c_long, (words + [-1] * 6)[:7]))
        found.append(ctypes.get_errno())
    return found
"""


def errors_of(
    sandbox: Sandbox, calls: list[tuple[str, tuple[int, ...]]]
) -> dict[tuple[str, tuple[int, ...]], int]:
    """Return what system calls come to in a child, without those that this machine lacks.

    All words that are not given are -1, which none of them takes.
    """
    numbers = {name: pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, name) for name, _ in calls}
    calls = [call for call in calls if numbers[call[0]] >= 0]
    found = sandbox.fork("work", {"work.py": ASKS})
    try:
        asked = [[numbers[name], *words] for name, words in calls]
        reply = found.perform(Request([asks("ask", asked)]))
    finally:
        found.close()
    assert reply.error is None, reply.error
    return dict(zip(calls, reply.value, strict=True))


def test_the_kernel_is_asked_for_nothing_that_no_component_needs(sandbox: Sandbox) -> None:
    calls: list[tuple[str, tuple[int, ...]]] = [(name, ()) for name in NEVER.split()]
    calls += [(name, words) for name, each in WORDS.items() for words in each]
    found = errors_of(sandbox, calls)
    assert len(found) > 100
    assert [call for call, error in found.items() if error != errno.EPERM] == []
    # Who hears that it is not there takes another, whose words can be looked at.
    assert errors_of(sandbox, [("clone3", ())]) == {("clone3", ()): errno.ENOSYS}


# Which pages of files are in memory is one memory that all children share: who may neither ask for
# it nor change it by name has only clocks to read it by.
PAGES = "import ctypes, mmap, resource; lib = __import__('torch').__file__; f = os.open(lib, 0); "
PAGES += "c = ctypes.CDLL(None, use_errno=True); m = mmap.mmap(f, 4096, prot=1); "
PAGES += "n = ctypes.create_string_buffer(64)\n    "
BY_NUMBER = "if c.syscall({}) < 0: raise OSError(ctypes.get_errno(), '')"


@pytest.mark.parametrize(
    "statement",
    [
        "os.posix_fadvise(f, 0, 0, os.POSIX_FADV_DONTNEED)",
        "os.posix_fadvise(f, 0, 4096, os.POSIX_FADV_WILLNEED)",
        "resource.getrusage(resource.RUSAGE_SELF)",
        "resource.getrusage(resource.RUSAGE_CHILDREN)",
        "resource.getrusage(resource.RUSAGE_THREAD)",
        "os.preadv(f, [bytearray(1)], 0, os.RWF_NOWAIT)",
        BY_NUMBER.format("{mincore}, n, 0, n"),
        BY_NUMBER.format("{cachestat}, f, n, n, 0"),
        BY_NUMBER.format("{readahead}, f, 0, 4096"),
        BY_NUMBER.format("{sync_file_range}, f, 0, 0, 0"),
        # The same by way of mapped memory: will need, cold, page out, read in.
        *(f"m.madvise({advice})" for advice in (3, 20, 21, 22)),
    ],
)
def test_which_pages_of_files_are_in_memory_is_not_told(sandbox: Sandbox, statement: str) -> None:
    x86 = os.uname().machine == "x86_64"
    numbers = {
        "mincore": 27 if x86 else 232,
        "cachestat": 451,
        "readahead": 187 if x86 else 213,
        "sync_file_range": 277 if x86 else 84,
    }
    assert refused(sandbox, PAGES + statement.format(**numbers)) == "PermissionError"


def test_own_time_and_memory_can_still_be_measured(sandbox: Sandbox) -> None:
    source = (
        "import cProfile, os, time, timeit, torch, tracemalloc\n"
        "def layer_norm(x):\n"
        "    tracemalloc.start()\n"
        "    cProfile.Profile().runcall(x.sum)\n"
        "    clocks = time.process_time(), time.thread_time(), timeit.timeit(x.sum, number=9)\n"
        "    memory = tracemalloc.get_traced_memory()\n"
        "    return torch.tensor([*clocks, sum(os.times()[:2]), *memory])\n"
    )
    reply = ask(sandbox, source)
    assert reply.error is None, reply.error
    assert min(reply.value.tolist()) >= 0


def test_a_gpu_of_this_machine_is_not_there(sandbox: Sandbox) -> None:
    hidden = "os.environ['CUDA_VISIBLE_DEVICES'] == '-1'"
    assert told(sandbox, f"[{hidden}, torch.cuda.is_available()]") == [True, False]


def test_the_environment_and_the_descriptors_are_bare(sandbox: Sandbox) -> None:
    os.environ["GRADEFORMER_TEST_SECRET"] = "secret"
    try:
        assert told(sandbox, "'GRADEFORMER_TEST_SECRET' in os.environ") is False
    finally:
        del os.environ["GRADEFORMER_TEST_SECRET"]
    source = (
        "import os, torch\n"
        "def is_open(d):\n"
        "    try:\n        os.fstat(d)\n        return True\n"
        "    except OSError:\n        return False\n"
        "def layer_norm(x):\n"
        "    return torch.tensor([d for d in range(256) if is_open(d)])\n"
    )
    # /dev/null three times, and the wire.
    assert len(ask(sandbox, source).value) == 4
    null = os.stat("/dev/null").st_rdev
    assert told(sandbox, "[os.fstat(d).st_rdev for d in range(3)]") == [null] * 3


def test_every_child_hashes_alike_and_finds_its_own_files_alone(sandbox: Sandbox) -> None:
    source = (
        "import os, sys, torch\n"
        "FOUND = sorted(os.listdir())\n"
        "def layer_norm(x):\n"
        "    assert FOUND == ['layer_norm.py'], FOUND\n"
        "    return torch.tensor([sys.flags.hash_randomization, hash('layer_norm')])\n"
    )
    found = [ask(sandbox, source).value.tolist() for _ in range(2)]
    assert found[0] == found[1]
    # Also in another sandbox, whose Python has started anew.
    assert found[0][0] == 0


def test_nothing_of_an_earlier_submission_is_left(sandbox: Sandbox) -> None:
    ask(sandbox, "open('left.txt', 'w').write('x')\nmarker = 'QUITE' + 'UNIQUE'\n")
    source = (
        "import gc, os, torch\n"
        "def layer_norm(x):\n"
        "    left = os.path.exists('left.txt')\n"
        "    word = 'QUITE' + 'UNIQUE'[::-1][::-1]\n"
        "    held = [o for o in gc.get_objects() if isinstance(o, dict) and 'marker' in o]\n"
        "    return torch.tensor([left, bool(held)])\n"
    )
    assert ask(sandbox, source).value.tolist() == [False, False]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("while True: pass", "timeout"),
        ("os._exit(0)", "crashed"),
        ("os.abort()", "crashed"),
        ("import ctypes; ctypes.string_at(0)", "crashed"),
        ("[forge(d) for d in range(3, 64)]", "crashed"),
    ],
)
def test_a_death_is_told_as_what_it_was(sandbox: Sandbox, body: str, reason: str) -> None:
    forge = "def forge(d):\n    try: os.write(d, b'gf02' + bytes(500))\n    except OSError: pass\n"
    with pytest.raises(ChildGone) as caught:
        ask(sandbox, f"import os\n{forge}def layer_norm(x):\n    {body}\n")
    assert caught.value.reason == reason
    assert ask(sandbox, RIGHT).error is None


def test_the_scratch_folder_takes_files_and_gives_sources(sandbox: Sandbox) -> None:
    source = (
        "import inspect, torch\nfrom helper import double\n"
        "@torch.jit.script\ndef twice(x: torch.Tensor):\n    return x * 2\n"
        "def layer_norm(x):\n"
        "    open('note.txt', 'w').write('hello')\n"
        "    assert open('note.txt').read() == 'hello'\n"
        "    assert 'return x * 2' in inspect.getsource(layer_norm) + inspect.getsource(double)\n"
        "    return twice(x) + double(x)\n"
    )
    reply = ask(sandbox, source, helper="def double(x):\n    return x * 2\n")
    assert reply.error is None, reply.error
    assert reply.value.tolist() == [8.0, 16.0, 24.0, 32.0]


def test_code_is_what_was_handed_over_whatever_its_file_says_by_then(sandbox: Sandbox) -> None:
    source = (
        "from pathlib import Path\n"
        "Path('helper.py').write_text('def double(x):\\n    return x * 0\\n')\n"
        "from helper import double as layer_norm\n"
    )
    reply = ask(sandbox, source, helper="def double(x):\n    return x * 2\n")
    assert reply.error is None, reply.error
    assert reply.value.tolist() == [4.0, 8.0, 12.0, 16.0]


def test_the_standard_library_and_threads_work(sandbox: Sandbox) -> None:
    source = (
        "import decimal, json, random, statistics, sqlite3, threading, numpy as np, torch\n"
        "def layer_norm(x):\n"
        "    thread = threading.Thread(target=lambda: x.add(1))\n"
        "    thread.start(); thread.join()\n"
        "    torch.func.vmap(torch.sin)(x)\n"
        "    return torch.from_numpy(np.sqrt(x.numpy()))\n"
    )
    reply = ask(sandbox, source)
    assert reply.error is None, reply.error


def test_an_event_loop_works(sandbox: Sandbox) -> None:
    source = (
        "import asyncio\n"
        "async def half(x):\n"
        "    await asyncio.sleep(0)\n"
        "    return await asyncio.to_thread(lambda: x / 2)\n"
        "def layer_norm(x):\n"
        "    return asyncio.run(half(x))\n"
    )
    reply = ask(sandbox, source)
    assert reply.error is None, reply.error
    assert reply.value.tolist() == [1.0, 2.0, 3.0, 4.0]


@pytest.mark.parametrize(
    "use",
    [
        "socket.socketpair(type=socket.SOCK_DGRAM)",
        "socket.socketpair(socket.AF_INET)",
        "one.send(b'x', socket.MSG_OOB)",
        "one.sendto(b'x', '/tmp/gradeformer')",
        "one.sendmsg([b'x'])",
        "other.recvmsg(1)",
        "other.recv(1, socket.MSG_PEEK)",
    ],
)
def test_a_pair_of_sockets_is_for_bytes_alone(sandbox: Sandbox, use: str) -> None:
    source = (
        "import socket\n"
        "def layer_norm(x):\n"
        "    one, other = socket.socketpair()\n"
        "    one.send(b'a')\n"
        f"    {use}\n"
    )
    reply = ask(sandbox, source)
    assert reply.error is not None
    assert (reply.error.kind, reply.error.line) == ("PermissionError", 5), reply.error


def test_what_torch_keeps_on_disk_is_kept_in_the_scratch_folder(sandbox: Sandbox) -> None:
    source = (
        "import os, torch\n"
        "from torch._inductor.runtime.cache_dir_utils import cache_dir\n"
        "def layer_norm(x):\n"
        "    return torch.tensor(os.path.dirname(cache_dir()) == os.getcwd())\n"
    )
    reply = ask(sandbox, source)
    assert reply.error is None, reply.error
    assert reply.value.item() is True


def test_on_the_third_tier_every_child_is_a_user_of_its_own(sandbox: Sandbox) -> None:
    if sandbox.tier != 3:
        pytest.skip("on other tiers they are one")
    children = [sandbox.fork("layer_norm", {"layer_norm.py": RIGHT}) for _ in range(3)]
    try:
        found = []
        for child in children:
            assert child.perform(question()).error is None
            status = dict(
                line.split(":", 1)
                for line in Path(f"/proc/{child.host_pid}/status").read_text().splitlines()
            )
            assert not int(status["CapPrm"], 16) | int(status["CapEff"], 16)
            assert status["NoNewPrivs"].strip() == "1"
            assert status["Groups"].strip() == ""
            ids = {*status["Uid"].split(), *status["Gid"].split()}
            assert len(ids) == 1
            found.append(int(ids.pop()))
            assert os.readlink(f"/proc/{child.host_pid}/root") == str(sandbox.jail.folder)
    finally:
        for child in children:
            child.close()
    assert len(set(found)) == 3
    assert set(found) <= set(JAIL_UIDS)


# Beside those of all graders of this machine.
USERS = range(65510, 65512)


@pytest.fixture
def few_users(sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    """A sandbox whose children can be two users, and no more."""
    if sandbox.tier != 3:
        pytest.skip("on other tiers children are no users of their own")
    monkeypatch.setattr(sandbox, "users", Pool(tmp_path / "users", USERS))
    return sandbox


def test_a_child_has_its_user_until_its_end(few_users: Sandbox) -> None:
    fork = partial(few_users.fork, "layer_norm", {"layer_norm.py": RIGHT})
    first, second = fork(), fork()
    try:
        with pytest.raises(SandboxFault, match="users 65510 to 65511 is a child's already"):
            fork()
        first.close()
        third = fork()
        assert third.perform(question()).error is None
        third.close()
    finally:
        first.close()
        second.close()


def test_what_a_killed_grader_left_at_work_ends_before_its_user_is_anothers(
    few_users: Sandbox, tmp_path: Path
) -> None:
    source = b"def layer_norm(x):\n    while True: pass\n"
    pid = os.fork()
    if pid == 0:
        for child in [few_users.fork("layer_norm", {"layer_norm.py": source}) for _ in USERS]:
            assert child.perform(Request()).error is None
            child.post(encode_request(question(), 0))
            (tmp_path / str(child.host_pid)).touch()
        os._exit(0)
    os.waitpid(pid, 0)
    left = [Path("/proc", path.name, "stat") for path in tmp_path.iterdir() if path.is_file()]
    assert len(left) == 2
    assert "Z" not in [path.read_text().split()[2] for path in left]
    children = [few_users.fork("layer_norm", {"layer_norm.py": RIGHT}) for _ in USERS]
    assert [path.read_text().split()[2] for path in left] == ["Z", "Z"]
    for child in children:
        child.close()


def test_a_live_child_adds_little_memory(sandbox: Sandbox) -> None:
    child = sandbox.fork("layer_norm", {"layer_norm.py": RIGHT})
    child.perform(question())
    rollup = Path(f"/proc/{child.host_pid}/smaps_rollup").read_text()
    child.close()
    private = sum(
        int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Private")
    )
    assert private < 30_000, f"{private} kB"


def test_no_process_is_left_behind(sandbox: Sandbox) -> None:
    child = sandbox.fork("layer_norm", {"layer_norm.py": RIGHT})
    child.perform(question())
    pid = child.host_pid
    assert Path(f"/proc/{pid}").exists()
    child.close()
    assert not Path(f"/proc/{pid}").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="GROUPS CANNOT BE CHANGED HERE: not root")
def test_no_child_keeps_a_group_of_who_grades() -> None:
    before = os.getgroups()
    os.setgroups([65520])
    try:
        sandbox = Sandbox(2, BUDGET)
        child = sandbox.fork("layer_norm", {"layer_norm.py": RIGHT})
        assert child.perform(Request()).error is None
        status = Path(f"/proc/{child.host_pid}/status").read_text()
        child.close()
        sandbox.close()
    finally:
        os.setgroups(before)
    assert re.findall(r"^Groups:(.*)$", status, re.M)[0].strip() == ""


def test_no_child_outlives_what_it_was_forked_from() -> None:
    sandbox = Sandbox(2, BUDGET)
    child = sandbox.fork("layer_norm", {"layer_norm.py": RIGHT})
    assert child.perform(question()).error is None
    stat = Path(f"/proc/{child.host_pid}/stat").read_text()
    handle = os.pidfd_open(child.host_pid)
    try:
        os.kill(int(stat.rpartition(")")[2].split()[1]), signal.SIGKILL)
        ended, _, _ = select.select([handle], [], [], 30)
        assert ended
    finally:
        # There is nobody who would say how it ended.
        with contextlib.suppress(SandboxFault):
            child.close()
        os.close(handle)
        sandbox.close()


FORBIDDEN = {
    "function": "torch.nn.functional.layer_norm(x, (4,))",
    "module": "torch.nn.LayerNorm(4)(x)",
    "namespace": "torch.layer_norm(x, (4,))",
    "native": "torch.native_layer_norm(x, (4,), None, None, 1e-5)[0]",
    "root mean square": "torch.nn.functional.rms_norm(x - x.mean(), (4,))",
    "transformed": "torch.func.vmap(lambda r: torch.layer_norm(r, (4,)))(x[None])[0]",
    "swallowed": "swallow(x)",
}


@pytest.mark.parametrize("route", FORBIDDEN)
def test_a_forbidden_operation_is_charged_to_its_line(sandbox: Sandbox, route: str) -> None:
    source = (
        "import torch\ndef swallow(x):\n"
        "    try: return torch.layer_norm(x, (4,))\n    except Exception: return x\n"
        f"def layer_norm(x):\n    return {FORBIDDEN[route]}\n"
    )
    use = ask(sandbox, source).forbidden[0]
    assert (use.file, use.line) == ("layer_norm.py", 3 if route == "swallowed" else 6)
    assert use.operation == ("rms_norm" if route == "root mean square" else "layer_norm")


def test_folders_nested_without_end_are_cleared_away(sandbox: Sandbox) -> None:
    deep = "import os\nfor _ in range(1500):\n    os.mkdir('d'); os.chdir('d')\n"
    child = sandbox.fork("layer_norm", {"layer_norm.py": RIGHT})
    assert child.perform(Request()).error is None
    # As this machine sees it; on the first tier it has a name inside alone.
    folders = Path(os.readlink(f"/proc/{child.host_pid}/cwd")).parent
    child.close()
    with contextlib.suppress(ChildGone):
        ask(sandbox, deep)
    assert ask(sandbox, RIGHT).error is None
    assert sandbox.tier == 1 or not any(folders.iterdir())


def test_a_leak_closes_the_door(tmp_path: Path) -> None:
    open_to_all = torch.__file__
    with pytest.raises(NotIsolated, match="does not hold here: a child could read"):
        open_sandbox("tier2", BUDGET, (), [Path(open_to_all)])


def test_a_tier_that_cannot_start_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(NotIsolated, match="bubblewrap is not installed"):
        open_sandbox("tier1", BUDGET, (), [])


def test_bubblewrap_may_lie_anywhere_in_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    real = shutil.which("bwrap")
    if real is None:
        pytest.skip("BUBBLEWRAP IS NOT INSTALLED")
    with tempfile.TemporaryDirectory() as folder:
        command, used = Path(folder, "bwrap"), Path(folder, "used")
        command.write_text(f'#!/bin/sh\necho >> {used}\nexec {real} "$@"\n')
        used.touch()
        # Root gives itself up before it starts.
        for path, mode in ((folder, 0o755), (command, 0o755), (used, 0o666)):
            os.chmod(path, mode)
        monkeypatch.setenv("PATH", folder, prepend=os.pathsep)
        try:
            open_sandbox("tier1", BUDGET, (), [])[0].close()
        except NotIsolated as reason:
            skip("tier1", reason)
        assert used.read_text()


# What the kernel holds of a child.

SMALL = Budget(call_cpu_s=60.0, call_wall_s=60.0, cpu_s=1, memory=300 << 20, file_size=150_000)
HELD = ("cpu time", "file size", "open files", "core file size", "address space")
SOURCE = b"""
import time, torch
zero = open("/dev/zero", "rb", 0)
def burn(seconds, in_kernel=False):
    end = time.process_time() + seconds
    while time.process_time() < end:
        zero.read(1 << 20) if in_kernel else sum(range(10_000))
def fill(count):
    return len(bytearray(count << 20)) >> 20
def tensor(count):
    return len(torch.zeros(count << 20, dtype=torch.uint8)) >> 20
def write(count):
    with open("out", "wb") as file:
        return file.write(bytes(count))
"""


@pytest.fixture
def child(sandbox: Sandbox) -> Iterator[Child]:
    """A child with limits of its own, which are no other child's."""
    found = sandbox.fork("work", {"work.py": SOURCE}, Profile(SMALL))
    yield found
    found.close()


def call(child: Child, name: str, *arguments: float) -> Reply:
    return child.perform(Request([asks(name, *arguments)]))


def test_the_kernel_holds_a_child_to_its_limits(child: Child, sandbox: Sandbox) -> None:
    assert child.perform(Request()).error is None
    limits = Path(f"/proc/{child.host_pid}/limits").read_text()
    held = {
        name: pair.split() for name, pair in re.findall(r"^Max (\D+?)  +(\w+ +\w+)", limits, re.M)
    }
    assert all(soft == hard for soft, hard in (held[name] for name in HELD))
    # A second more, so that what is told of its end is that it was too slow.
    assert held["cpu time"][0] == "2"
    assert held["file size"][0] == "150000"
    assert held["open files"][0] == "64"
    assert held["core file size"][0] == "0"
    status = Path(f"/proc/{child.host_pid}/status").read_text()
    mapped = int(status.partition("VmSize:")[2].split()[0]) << 10
    # What was mapped before does not count, and what it has mapped since is little.
    assert SMALL.memory - (64 << 20) < int(held["address space"][0]) - mapped <= SMALL.memory
    if sandbox.tier == 3:
        assert held["processes"] == ["128", "128"]
    # Where memory is short it is ended before anything else.
    assert Path(f"/proc/{child.host_pid}/oom_score_adj").read_text().strip() == "1000"


def test_no_child_has_rights_of_its_own(child: Child, sandbox: Sandbox) -> None:
    assert child.perform(Request()).error is None
    status = dict(
        line.split(":", 1)
        for line in Path(f"/proc/{child.host_pid}/status").read_text().splitlines()
    )
    # On the second tier, where root grades, the interpreter may lie below a closed folder.
    kept = 1 << 2 if sandbox.tier == 2 and os.geteuid() == 0 else 0
    assert {int(status[name], 16) for name in ("CapPrm", "CapEff")} == {kept}
    assert {int(status[name], 16) for name in ("CapInh", "CapAmb")} == {0}
    assert (status["NoNewPrivs"].strip(), status["Seccomp"].strip()) == ("1", "2")
    if "as an unprivileged user" in sandbox.notes:
        assert "0" not in {*status["Uid"].split(), *status["Gid"].split()}
        # Nor may another process of the same user look into it.
        assert Path(f"/proc/{child.host_pid}/maps").stat().st_uid == 0


@pytest.mark.parametrize(
    ("name", "much", "kind"), [("fill", 320, "MemoryError"), ("tensor", 320, "RuntimeError")]
)
def test_memory_is_bounded_by_what_is_taken(child: Child, name: str, much: int, kind: str) -> None:
    assert call(child, name, 200).value == 200
    error = call(child, name, much).error
    assert error is not None
    assert error.kind == kind


def test_a_file_is_bounded_by_what_is_written(child: Child) -> None:
    assert call(child, "write", 150_000).value == 150_000
    error = call(child, "write", 150_001).error
    assert error is not None
    assert error.kind == "OSError"


def test_all_calls_together_are_bounded_by_what_they_compute(sandbox: Sandbox) -> None:
    if sandbox.tier != 2:
        pytest.skip("the kernel counts alike on each tier; that it is told to is tried above")
    found = sandbox.fork("work", {"work.py": SOURCE}, Profile(SMALL))
    assert call(found, "burn", 0.4).error is None
    assert call(found, "burn", 0.4).error is None
    with pytest.raises(ChildGone, match="more than 1 s of computing in all") as gone:
        call(found, "burn", 30)
    assert gone.value.reason == "timeout"
    # A second more than it is given, which the kernel counts by ticks.
    assert 1.0 <= found.close()["cpu_s"] < 2.6


def test_what_was_used_is_told_at_the_end(child: Child, sandbox: Sandbox) -> None:
    if sandbox.tier != 2:
        pytest.skip("it is told alike on each tier")
    assert call(child, "burn", 0.2).error is None
    # What the kernel did for it is its own, too.
    assert call(child, "burn", 0.2, True).error is None
    assert 0.38 <= child.close()["cpu_s"] < 1.0


def test_on_the_first_tier_all_files_together_are_bounded(sandbox: Sandbox) -> None:
    if sandbox.tier != 1:
        pytest.skip("on other tiers each file is")
    source = (
        "import torch\n"
        "def layer_norm(x):\n"
        "    for count in range(40):\n"
        "        try: open(f'{count}.bin', 'wb').write(bytes(1 << 20))\n"
        "        except OSError: return torch.tensor(count)\n"
    )
    # 16 MiB, in which the submission lies, too.
    assert ask(sandbox, source).value.item() in (15, 16)


def test_on_the_first_tier_so_many_files_are_too_many(sandbox: Sandbox) -> None:
    if sandbox.tier != 1:
        pytest.skip("on other tiers they lie in a folder of the machine's")
    source = (
        "import torch\n"
        "def layer_norm(x):\n"
        "    for count in range(2000):\n"
        "        try: open(str(count), 'wb').close()\n"
        "        except OSError: return torch.tensor(count)\n"
    )
    # Beside the folder itself and the submission.
    assert 1000 < ask(sandbox, source).value.item() < 1024
