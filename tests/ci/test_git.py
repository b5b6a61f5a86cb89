"""Repositories that are hostile, large or odd: what is taken of them, and what is not."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from autograder.ci import git as limits
from autograder.ci import harmless
from autograder.ci.git import Git, GitFault, Taken
from tests.ci.conftest import TOKEN
from tests.ci.platform import Platform, serving
from tests.ci.repositories import git

PLAIN = Git(None, "nobody", 30)


def url(server: Path, name: str) -> str:
    return f"file://{server}/course/{name}.git"


def test_the_newest_commit_is_taken_with_its_python_files(server, repository) -> None:
    right = repository("ada")
    right.push({"layer_norm.py": "old"})
    commit = right.push(
        {
            "layer_norm.py": "new\n",
            "own/help.py": "h = 1\n",
            "README.md": "hello",
            "big.pt": "x" * 99,
        }
    )
    assert PLAIN.newest(url(server, "ada"), "HEAD") == commit
    taken = PLAIN.take(url(server, "ada"), "HEAD")
    assert taken.commit == commit
    assert taken.files == {"layer_norm.py": b"new\n", "own/help.py": b"h = 1\n"}
    assert taken.left_out == []


def test_bytes_are_as_they_were_pushed_whatever_attributes_say(server, repository) -> None:
    odd = repository("ada")
    data = 'text = "$Id$"\r\n# version https://git-lfs.github.com/spec/v1\r\n'
    odd.push(
        {
            "layer_norm.py": data,
            ".gitattributes": "*.py filter=lfs ident text eol=lf working-tree-encoding=UTF-16\n",
            ".lfsconfig": "[lfs]\nurl = https://elsewhere.invalid\n",
        }
    )
    assert PLAIN.take(url(server, "ada"), "HEAD").files == {"layer_norm.py": data.encode()}


def test_a_link_is_not_followed_but_named(server, repository) -> None:
    repository("eve").push({"a.py": "1"}, {"layer_norm.py": "/etc/passwd", "sub": ".."})
    taken = PLAIN.take(url(server, "eve"), "HEAD")
    assert taken.files == {"a.py": b"1"}
    assert taken.left_out == ["layer_norm.py is a link"]


def test_a_submodule_is_not_fetched(server, repository) -> None:
    other = repository("other").push({"secret.py": "1"})
    eve = repository("eve")
    entries = {
        "layer_norm.py": f"100644 blob {eve.blob(b'1')}",
        "sub.py": f"160000 commit {other}",
        ".gitmodules": "100644 blob "
        + eve.blob(f'[submodule "s"]\npath = sub.py\nurl = {url(server, "other")}\n'.encode()),
    }
    eve.commit(eve.tree(entries))
    taken = PLAIN.take(url(server, "eve"), "HEAD")
    assert taken.files == {"layer_norm.py": b"1"}


def test_a_tree_that_leads_out_of_its_folder_is_refused(server, repository) -> None:
    eve = repository("eve")
    blob = bytes.fromhex(eve.blob(b"1"))
    inner = git(
        eve.folder,
        *("hash-object", "-w", "-t", "tree", "--stdin", "--literally"),
        given=b"100644 evil.py\0" + blob,
    )
    outer = git(
        eve.folder,
        *("hash-object", "-w", "-t", "tree", "--stdin", "--literally"),
        given=b"40000 ..\0" + bytes.fromhex(inner),
    )
    eve.commit(outer)
    with pytest.raises(GitFault):
        PLAIN.take(url(server, "eve"), "HEAD")


def test_a_repository_that_is_too_large_is_refused(server, repository, monkeypatch) -> None:
    monkeypatch.setattr(limits, "MAX_FETCHED", 1 << 20)
    eve = repository("eve")
    entries = {
        "a.py": f"100644 blob {eve.blob(b'1')}",
        "b": f"100644 blob {eve.blob(os.urandom(3 << 20))}",
    }
    eve.commit(eve.tree(entries))
    with pytest.raises(GitFault, match="it is larger than 1048576 bytes, or damaged"):
        PLAIN.take(url(server, "eve"), "HEAD")


def test_a_python_file_that_is_too_large_is_refused_and_named(server, repository) -> None:
    eve = repository("eve")
    # It is sent as a few kilobytes.
    big = eve.blob(b"#" * (limits.MAX_FILE_BYTES + 1))
    eve.commit(eve.tree({"layer_norm.py": f"100644 blob {big}"}))
    with pytest.raises(GitFault, match=r"layer_norm\.py is larger than"):
        PLAIN.take(url(server, "eve"), "HEAD")


def test_a_tree_that_unfolds_without_end_is_given_up(server, repository) -> None:
    eve = repository("eve")
    tree = eve.tree({"a.txt": f"100644 blob {eve.blob(b'1')}"})
    for _ in range(12):
        tree = eve.tree({f"d{n}": f"040000 tree {tree}" for n in range(10)})
    eve.commit(tree)
    with pytest.raises(GitFault, match="more than 10000 files"):
        PLAIN.take(url(server, "eve"), "HEAD")


def test_a_tree_of_nothing_that_unfolds_without_end_is_given_up(server, repository) -> None:
    eve = repository("eve")
    tree = git(eve.folder, "mktree")
    for _ in range(9):
        tree = eve.tree({f"d{n}": f"040000 tree {tree}" for n in range(10)})
    eve.commit(tree)
    with pytest.raises(GitFault, match="took longer than 2 s"):
        Git(None, "nobody", 2).take(url(server, "eve"), "HEAD")


def test_no_hook_and_no_configuration_of_this_machine_is_used(
    server, repository, tmp_path, monkeypatch
) -> None:
    home, ran = tmp_path / "home", tmp_path / "ran"
    hooks = home / "hooks"
    hooks.mkdir(parents=True)
    for name in ("post-checkout", "reference-transaction", "post-index-change"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {ran}\n")
        (hooks / name).chmod(stat.S_IRWXU)
    (home / ".gitconfig").write_text(
        f'[core]\nhooksPath = {hooks}\n[url "file:///elsewhere/"]\ninsteadOf = file://{server}/\n'
    )
    monkeypatch.setenv("HOME", str(home))
    repository("ada").push({"layer_norm.py": "1"})
    assert PLAIN.take(url(server, "ada"), "HEAD").files == {"layer_norm.py": b"1"}
    assert not ran.exists()


@pytest.mark.parametrize("address", ["ext::sh -c touch%20{ran}", "ssh://127.0.0.1:1/a", "{path}"])
def test_only_the_protocol_that_was_named_is_spoken(tmp_path, address) -> None:
    ran = tmp_path / "ran"
    plain = Git(None, "nobody", 10)
    place = address.format(ran=ran, path=tmp_path)
    # What is allowed is what an address begins with, so another is one that git reads otherwise.
    with pytest.raises(GitFault):
        plain.newest(place, "HEAD")
    assert not ran.exists()


def test_a_repository_without_a_commit_has_none(server, repository) -> None:
    repository("new")
    assert PLAIN.newest(url(server, "new"), "HEAD") is None


def test_what_is_not_there_is_said_in_a_line(server) -> None:
    with pytest.raises(GitFault, match=r"git ls-remote: fatal: .*nobody"):
        PLAIN.newest(url(server, "nobody"), "HEAD")


def test_a_token_is_shown_to_the_server_and_is_in_no_process(
    platform, repository, tmp_path, monkeypatch
) -> None:
    commit = repository("ada").push({"layer_norm.py": "1"})
    seen = tmp_path / "seen"
    real = shutil.which("git")
    spy = tmp_path / "bin" / "git"
    spy.parent.mkdir()
    words = f'{{ env; printf "%s\\n" "$@"; }} >> {seen}'
    spy.write_text(f'#!/bin/sh\n{words}\nexec {real} "$@"\n')
    spy.chmod(0o755)
    monkeypatch.setenv("PATH", f"{spy.parent}:{os.environ['PATH']}")
    fetched = Git(TOKEN, "x-access-token", 30)
    taken = fetched.take(f"{platform.address}/git/course/ada.git", "HEAD")
    assert (taken.commit, taken.files) == (commit, {"layer_norm.py": b"1"})
    assert "fetch" in seen.read_text()
    assert TOKEN not in seen.read_text()


def test_a_wrong_token_is_an_error_that_does_not_show_it(platform, repository) -> None:
    repository("ada").push({"layer_norm.py": "1"})
    with pytest.raises(GitFault) as caught:
        Git("wrong-5e7a91", "x", 30).newest(f"{platform.address}/git/course/ada.git", "HEAD")
    assert "wrong-5e7a91" not in str(caught.value)


@pytest.fixture
def stranger(server: Path) -> Iterator[Platform]:
    """Another server, with the same repositories."""
    with serving(Platform(server, (TOKEN,))) as found:
        yield found


def at(platform: Platform, name: str) -> str:
    return f"{platform.address}/git/course/{name}.git"


def test_no_redirection_is_followed(platform, stranger, repository) -> None:
    repository("ada").push({"layer_norm.py": "1"})
    platform.elsewhere = stranger.address
    shown = Git(TOKEN, "x", 30)
    for ask in (shown.newest, shown.take):
        with pytest.raises(GitFault, match=r"git (ls-remote|fetch): fatal: .*returned error: 302"):
            ask(at(platform, "ada"), "HEAD")
    assert stranger.asked == []


def test_a_token_is_for_one_server_alone(platform, stranger, repository, monkeypatch) -> None:
    # What keeps git from coming there at all is the test above.
    monkeypatch.setitem(harmless.SETTINGS, "http.followRedirects", "true")
    repository("ada").push({"layer_norm.py": "1"})
    platform.elsewhere = stranger.address
    with pytest.raises(GitFault):
        Git(TOKEN, "x", 30).take(at(platform, "ada"), "HEAD")
    assert stranger.asked
    assert not any(stranger.shown)


def test_no_credential_of_this_machine_is_shown(
    platform, repository, tmp_path, monkeypatch
) -> None:
    repository("ada").push({"layer_norm.py": "1"})
    leak = f"!echo username=x; echo password={TOKEN} #"
    home = tmp_path / "home"
    home.mkdir()
    (home / ".netrc").write_text(f"machine 127.0.0.1 login x password {TOKEN}\n")
    (home / ".gitconfig").write_text(f'[credential]\nhelper = "{leak}"\n')
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "credential.helper")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", leak)
    # Where git works may lie in a repository of the user's.
    git(home, "init", "--quiet")
    git(home, "config", "credential.helper", leak)
    monkeypatch.setattr(tempfile, "tempdir", str(home))
    for ask in (PLAIN.newest, PLAIN.take):
        with pytest.raises(GitFault):
            ask(at(platform, "ada"), "HEAD")
    assert platform.asked
    assert not any(platform.shown)


def test_a_repository_around_the_place_where_git_works_says_nothing(
    server, repository, tmp_path, monkeypatch
) -> None:
    repository("ada").push({"layer_norm.py": "ada"})
    other = repository("eve").push({"layer_norm.py": "eve"})
    around = tmp_path / "around"
    around.mkdir()
    git(around, "init", "--quiet")
    git(around, "config", f"url.{url(server, 'eve')}.insteadOf", url(server, "ada"))
    monkeypatch.setattr(tempfile, "tempdir", str(around))
    # The same could be said by the environment.
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", f"url.{url(server, 'eve')}.insteadOf")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", url(server, "ada"))
    assert PLAIN.newest(url(server, "ada"), "HEAD") not in (None, other)
    assert PLAIN.take(url(server, "ada"), "HEAD").files == {"layer_norm.py": b"ada"}


def test_a_path_is_no_address_though_a_repository_is_there(server, repository) -> None:
    repository("ada").push({"layer_norm.py": "1"})
    with pytest.raises(GitFault, match="transport 'file' not allowed"):
        PLAIN.newest(str(server / "course" / "ada.git"), "HEAD")


def test_git_runs_within_limits_of_its_own(server, repository, tmp_path, monkeypatch) -> None:
    repository("ada").push({"layer_norm.py": "1"})
    seen = tmp_path / "seen"
    spy = tmp_path / "bin" / "git"
    spy.parent.mkdir()
    spy.write_text(
        f"#!/bin/sh\necho $(ulimit -f) $(ulimit -v) $(ulimit -t) >> {seen}\n"
        # Its session: what it starts is ended with it.
        f"read -r _ _ _ _ _ session _ < /proc/$$/stat; echo $(($$ - session)) >> {seen}\n"
        f'exec {shutil.which("git")} "$@"\n'
    )
    spy.chmod(0o755)
    monkeypatch.setenv("PATH", f"{spy.parent}:{os.environ['PATH']}")
    assert Git(None, "nobody", 30).newest(url(server, "ada"), "HEAD")
    assert seen.read_text() == f"{limits.MAX_FETCHED // 512} {4 << 20} 31\n0\n"


@pytest.mark.parametrize("slip", ["timezone", "date", "mode"])
def test_a_slip_of_an_old_tool_costs_nobody_a_mark(server, repository, slip: str) -> None:
    ada = repository("ada")
    entries = {"layer_norm.py": f"100644 blob {ada.blob(b'1')}"}
    tree = ada.tree(entries)
    if slip == "mode":
        inner = b"100644 layer_norm.py\0" + bytes.fromhex(ada.blob(b"1"))
        words = ("hash-object", "-w", "-t", "tree", "--stdin", "--literally")
        folder = git(ada.folder, *words, given=inner)
        tree = git(ada.folder, *words, given=b"040000 own\0" + bytes.fromhex(folder))
    who = {"timezone": "A <a@b> 1 +051800", "date": "A <a@b>1 +0000"}.get(slip, "A <a@b> 1 +0000")
    text = f"tree {tree}\nauthor {who}\ncommitter A <a@b> 1 +0000\n\nwork\n"
    words = ("hash-object", "-w", "-t", "commit", "--stdin", "--literally")
    commit = git(ada.folder, *words, given=text.encode())
    git(ada.folder, "update-ref", "refs/heads/main", commit)
    assert list(PLAIN.take(url(server, "ada"), "HEAD").files.values()) == [b"1"]


def test_a_tree_that_is_damaged_is_refused_whatever_it_would_be_read_for(
    server, repository
) -> None:
    eve = repository("eve")
    words = ("hash-object", "-w", "-t", "tree", "--stdin", "--literally")
    inner = git(eve.folder, *words, given=b"100644 note.txt\0" + bytes.fromhex(eve.blob(b"1")))
    eve.commit(git(eve.folder, *words, given=b"40000 ..\0" + bytes.fromhex(inner)))
    with pytest.raises(GitFault, match="or damaged"):
        PLAIN.take(url(server, "eve"), "HEAD")


ODD = ["..", ".", "a\\b.py", "a\nb.py", "\u202eb.py", f"{'x' * 260}.py"]


@pytest.mark.parametrize("name", ODD)
def test_a_name_that_leads_elsewhere_is_not_taken_by_itself(
    server, repository, monkeypatch, name: str
) -> None:
    # Most of these are refused before, as no sound tree has them: the names are looked at, too.
    monkeypatch.setitem(harmless.SETTINGS, "fetch.fsckObjects", "false")
    eve = repository("eve")
    words = ("hash-object", "-w", "-t", "tree", "--stdin", "--literally")
    blob = bytes.fromhex(eve.blob(b"1"))
    entry = b"100644 " + name.encode() + b"\0" + blob
    if not name.endswith(".py"):
        inner = git(eve.folder, *words, given=b"100644 evil.py\0" + blob)
        entry = b"40000 " + name.encode() + b"\0" + bytes.fromhex(inner)
    eve.commit(git(eve.folder, *words, given=entry + b"100644 z.py\0" + blob))
    assert PLAIN.take(url(server, "eve"), "HEAD").files == {"z.py": b"1"}


def test_a_path_that_is_too_long_in_all_is_not_taken(server, repository) -> None:
    eve = repository("eve")
    eve.push({"z.py": "1", "/".join(["d" * 200] * 5) + "/a.py": "1"})
    assert PLAIN.take(url(server, "eve"), "HEAD").files == {"z.py": b"1"}


def test_a_file_may_be_one_that_can_be_run(server, repository) -> None:
    ada = repository("ada")
    blob = ada.blob(b"1")
    ada.commit(ada.tree({"a.py": f"100644 blob {blob}", "b.py": f"100755 blob {blob}"}))
    taken = PLAIN.take(url(server, "ada"), "HEAD")
    assert (list(taken.files), taken.left_out) == (["a.py", "b.py"], [])


@pytest.mark.parametrize(
    "limit, value, words",
    [
        ("MAX_ENTRIES", 3, "it has more than 3 files"),
        ("MAX_FILES", 2, "it has more than 2 Python files or 20000000 bytes of them"),
        ("MAX_BYTES", 20, "it has more than 1000 Python files or 20 bytes of them"),
        ("MAX_FILE_BYTES", 10, r"b\.py is larger than 10 bytes"),
    ],
)
def test_each_limit_holds_by_itself_and_not_one_before(
    server, repository, monkeypatch, limit: str, value: int, words: str
) -> None:
    ada = repository("ada")
    ada.push({"a.py": "x" * 10, "b.py": "x" * 10, "c.txt": "x" * 100})
    monkeypatch.setattr(limits, limit, value)
    assert list(PLAIN.take(url(server, "ada"), "HEAD").files) == ["a.py", "b.py"]
    more = {"MAX_FILE_BYTES": {"b.py": "x" * 11}, "MAX_BYTES": {"b.py": "x" * 11}}
    ada.push({"a.py": "x" * 10, **more.get(limit, {"b.py": "x", "d.py": ""}), "c.txt": "x"})
    with pytest.raises(GitFault, match=words):
        PLAIN.take(url(server, "ada"), "HEAD")


def test_of_many_links_some_are_named(server, repository) -> None:
    repository("eve").push({"a.py": "1"}, {f"l{n:02}.py": "a.py" for n in range(25)})
    assert PLAIN.take(url(server, "eve"), "HEAD").left_out == [
        f"l{n:02}.py is a link" for n in range(20)
    ]


def test_a_branch_is_found_by_its_name_and_nothing_that_is_called_alike(server, repository) -> None:
    ada = repository("ada")
    first = ada.push({"a.py": "1"})
    git(ada.folder, "update-ref", "refs/heads/a/main", first)
    git(ada.folder, "update-ref", "refs/heads/z/main", first)
    second = ada.push({"a.py": "2"})
    assert PLAIN.newest(url(server, "ada"), "main") == second
    assert PLAIN.newest(url(server, "ada"), "refs/heads/main") == second
    assert PLAIN.newest(url(server, "ada"), "z/main") == first
    assert PLAIN.newest(url(server, "ada"), "another") is None


def test_what_a_repository_is_called_wrong_is_said_in_a_line_that_is_text(server) -> None:
    with pytest.raises(GitFault) as caught:
        PLAIN.newest(url(server, "a\x1b[31m" + "x" * 500), "HEAD")
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) <= 300


def test_a_hash_of_files_tells_names_from_contents() -> None:
    one = Taken("a" * 40, {"a.py": b"1", "b.py": b"2"}, [])
    assert one.content == Taken("b" * 40, {"b.py": b"2", "a.py": b"1"}, ["x"]).content
    for files in ({"a.py": b"2", "b.py": b"1"}, {"a.py": b"12", "b.py": b""}, {"a.py": b"1"}):
        assert one.content != Taken("a" * 40, files, []).content


def test_history_is_not_fetched(server, repository, monkeypatch) -> None:
    monkeypatch.setattr(limits, "MAX_FETCHED", 1 << 20)
    ada = repository("ada")
    once = ada.blob(os.urandom(3 << 20))
    ada.commit(ada.tree({"data": f"100644 blob {once}"}))
    ada.push({"a.py": "1"})
    assert PLAIN.take(url(server, "ada"), "HEAD").files == {"a.py": b"1"}


def test_a_name_that_is_no_utf_8_is_passed_over_and_one_without_end_refused(
    server, repository
) -> None:
    eve = repository("eve")
    words = ("hash-object", "-w", "-t", "tree", "--stdin", "--literally")
    blob = bytes.fromhex(eve.blob(b"1"))
    good = b"100644 a.py\0" + blob
    eve.commit(git(eve.folder, *words, given=good + b"100644 \xff.py\0" + blob))
    assert PLAIN.take(url(server, "eve"), "HEAD").files == {"a.py": b"1"}
    endless = b"100644 " + b"b" * 100_000 + b".py\0"
    eve.commit(git(eve.folder, *words, given=good + endless + blob))
    with pytest.raises(GitFault, match="a name in it is too long"):
        PLAIN.take(url(server, "eve"), "HEAD")


def test_a_server_that_says_too_much_is_not_listened_to(server, repository) -> None:
    eve = repository("eve")
    commit = eve.push({"a.py": "1"})
    refs = (f"{commit} refs/x/{n:05}/{'y' * 200}/HEAD\n" for n in range(5000))
    (eve.folder / "packed-refs").write_text("".join(refs))
    with pytest.raises(GitFault, match="it says more than is read"):
        PLAIN.newest(url(server, "eve"), "HEAD")


def test_what_is_cut_off_by_the_clock_is_said_to_be_late(
    server, repository, tmp_path, monkeypatch
) -> None:
    """Not to be damaged, as it looks to who reads it."""
    repository("ada").push({"a.py": "1"})
    spy = tmp_path / "bin" / "git"
    spy.parent.mkdir()
    # The program that reads files says nothing until it is ended.
    hangs = 'case "$*" in *cat-file*) exec sleep 60;; esac'
    spy.write_text(f'#!/bin/sh\n{hangs}\nexec {shutil.which("git")} "$@"\n')
    spy.chmod(0o755)
    monkeypatch.setenv("PATH", f"{spy.parent}:{os.environ['PATH']}")
    begun: list[float] = []

    class AtOnce:
        """A clock that has run out when the fifth program starts, which is that one."""

        def __init__(self, seconds: float, stop: Callable[[], None]) -> None:
            begun.append(seconds)
            self.stop = stop

        def start(self) -> None:
            if len(begun) == 5:
                self.stop()

        def cancel(self) -> None:
            pass

    monkeypatch.setattr(limits, "Timer", AtOnce)
    with pytest.raises(GitFault, match=r"^it took longer than 30 s$"):
        PLAIN.take(url(server, "ada"), "HEAD")
    assert begun == [30] * 5


def test_nothing_of_a_token_stays_open(platform, repository) -> None:
    repository("ada").push({"a.py": "1"})
    Git(TOKEN, "x", 30).take(at(platform, "ada"), "HEAD")
    held = []
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            held.append(os.readlink(f"/proc/self/fd/{name}"))
    assert not [place for place in held if "credential" in place]
