"""Who cannot isolate student code is told what failed, and the repair for just that."""

import sys
import types
from pathlib import Path

import pytest

from autograder.sandbox import tiers
from autograder.sandbox.tiers import NotIsolated, open_sandbox
from tests.conftest import BUDGET, TIERS

BWRAP = "the sandbox stopped: bwrap: setting up uid map: Permission denied"


@pytest.mark.parametrize(
    ("setting", "value", "said"),
    [
        ("kernel/apparmor_restrict_unprivileged_userns", "1", "is 1, which forbids"),
        ("kernel/unprivileged_userns_clone", "0", "sysctl kernel.unprivileged_userns_clone=1"),
        ("user/max_user_namespaces", "0", "sysctl user.max_user_namespaces=10000"),
    ],
)
def test_what_forbids_namespaces_is_named(
    tmp_path: Path, setting: str, value: str, said: str
) -> None:
    path = tmp_path / "proc" / "sys" / setting
    path.parent.mkdir(parents=True)
    path.write_text(f"{value}\n")
    told = tiers.not_started(1, BWRAP, tmp_path)
    assert said in told
    assert "install" not in told
    path.write_text("7\n")
    assert said not in tiers.not_started(1, BWRAP, tmp_path)


def test_a_container_that_forbids_namespaces(tmp_path: Path) -> None:
    told = tiers.not_started(1, BWRAP, tmp_path)
    assert "--sandbox tier2" in told
    assert "install" not in told
    assert tiers.not_started(1, "the sandbox stopped: no module numpy").endswith("no module numpy")
    assert tiers.not_started(2, BWRAP) == BWRAP


def test_no_landlock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiers, "landlock_version", lambda: 0)
    assert "Linux 5.13" in tiers.lacking(2, tmp_path)
    modules = tmp_path / "sys" / "kernel" / "security" / "lsm"
    modules.parent.mkdir(parents=True)
    modules.write_text("capability,yama")
    assert "lsm=landlock,capability,yama" in tiers.lacking(2, tmp_path)
    modules.write_text("capability,landlock")
    assert "Linux 5.13" in tiers.lacking(2, tmp_path)
    # Root would be given the third tier, which needs none.
    monkeypatch.setattr(tiers.os, "geteuid", lambda: 1000)
    with pytest.raises(
        NotIsolated, match=r"tier 1: .*Landlock.*tier 2: .*Landlock.*tier 3: it needs"
    ):
        open_sandbox("auto", BUDGET, (), [])


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ({"CapEff": "00000000a80425fb"}, ""),
        ({"CapEff": "00000000a80025fb"}, "lacks CAP_SYS_CHROOT)"),
        ({"CapEff": "0000000000000000"}, "--cap-add SETGID --cap-add SETUID --cap-add SYS_CHROOT"),
        ({"uid_map": "0 1000 1"}, "users 65000 to 65499 are not there"),
        ({"uid_map": "0 1000 1\n1 100000 65536"}, ""),
        ({"gid_map": "0 1000 65400"}, "gid_map gives it fewer"),
        ({"flags": "8"}, "is mounted noexec: set TMPDIR"),
    ],
)
def test_what_root_lacks_for_the_third_tier(
    found: dict[str, str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    all_users = {"uid_map": "0 0 4294967295", "gid_map": "0 0 4294967295"}
    found = {"CapEff": "000001ffffffffff", "flags": "0", **all_users, **found}
    process = tmp_path / "proc" / "self"
    process.mkdir(parents=True)
    (process / "status").write_text(f"Name:\tpython\nCapEff:\t{found['CapEff']}\n")
    for name in all_users:
        (process / name).write_text(f"{found[name]}\n")
    monkeypatch.setattr(tiers.os, "geteuid", lambda: 0)
    flags = types.SimpleNamespace(f_flag=int(found["flags"]))
    monkeypatch.setattr(tiers.os, "statvfs", lambda path: flags)
    told = tiers.lacking(3, tmp_path)
    assert said in told
    assert bool(said) == bool(told)


def test_no_libseccomp(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyseccomp", None)
    assert "pip install pyseccomp" in tiers.lacking(2)

    class Raising(types.ModuleType):
        def find_spec(self, *_: object) -> None:
            raise RuntimeError("Unable to find libseccomp")

    monkeypatch.delitem(sys.modules, "pyseccomp")
    monkeypatch.setattr(sys, "meta_path", [Raising("finder")])
    assert "libseccomp2" in tiers.lacking(2)


def test_a_leak_names_the_path_and_what_opened_it(tmp_path: Path) -> None:
    secret = tmp_path / "opened" / "course" / "secret.py"
    secret.parent.mkdir(parents=True)
    secret.write_text("")
    told = tiers.leaking(f"read {secret}", ["/elsewhere", str(tmp_path / "opened")], 2)
    assert f"it lies in {tmp_path / 'opened'}, " in told
    assert "move it elsewhere" in told
    assert "bubblewrap" not in told
    assert "Landlock" in tiers.leaking(f"read {secret}", ["/elsewhere"], 2)
    assert "kernel or container" in tiers.leaking("open a socket", ["/elsewhere"], 2)


@pytest.mark.parametrize("tier", TIERS)
def test_a_course_in_a_package_of_children_is_refused(
    tier: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site-packages"
    (site / "wanted" / "course").mkdir(parents=True)
    (site / "wanted" / "__init__.py").write_text("")
    (site / "wanted" / "course" / "solution.py").write_text("")
    monkeypatch.syspath_prepend(str(site))
    if tiers.lacking(int(tier[-1])):
        pytest.skip(f"{tier} CANNOT BE TESTED HERE: {tiers.lacking(int(tier[-1]))}")
    with pytest.raises(
        NotIsolated, match=r"could read .*solution\.py; it lies in .*site-packages, "
    ):
        open_sandbox(tier, BUDGET, (), [site / "wanted/course/solution.py"])
