"""Repositories that are hostile, large or odd: what is taken of them, and what is not."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest

from autograder.ci import git as limits
from autograder.ci.git import Git, GitFault
from tests.ci.conftest import TOKEN
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


@pytest.mark.parametrize(
    "path", ["../a.py", "a/../b.py", "/a.py", "a//b.py", "./a.py", "a\\b.py", "a\nb.py", "x" * 1200]
)
def test_no_name_leads_out_of_its_folder(path: str) -> None:
    assert not limits._inside(path)


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
