"""Which installed packages children are given, and what of a shared folder that opens."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from autograder.assignment import load_assignment
from autograder.errors import UsageError
from autograder.sandbox.packages import PackageFault, packages, strangers, version_of
from autograder.sandbox.paths import View, view
from tests.planted import plant


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of installed packages, first on the path."""
    folder = tmp_path / "lib" / "site-packages"
    folder.mkdir(parents=True)
    monkeypatch.syspath_prepend(str(folder))
    return folder


@pytest.fixture
def opened(site: Path) -> Callable[..., set[str]]:
    """What is opened of that folder for the packages that are named, by path in it."""

    def find(*named: str) -> set[str]:
        paths = packages(named).paths
        return {p.relative_to(site).as_posix() for p in paths if p.is_relative_to(site)}

    return find


def test_a_package_is_opened_and_its_neighbours_are_not(
    site: Path, opened: Callable[..., set[str]]
) -> None:
    plant(site, "wanted", {"wanted/__init__.py": "", "wanted/inner/x.py": "", "wanted_one.py": ""})
    plant(site, "secrets-pkg", {"secrets_pkg/__init__.py": ""})
    assert opened() == set()
    assert opened("wanted") == {"wanted", "wanted_one.py"}


def test_what_it_depends_on_comes_along(site: Path, opened: Callable[..., set[str]]) -> None:
    needs = [
        "Helper_Pkg>=1",
        "absent-pkg; extra == 'more'",
        "optional-pkg; extra == 'more'",
        "elsewhere; sys_platform == 'nowhere'",
        "extra-pkg[fast]",
        "not a requirement at all",
    ]
    plant(site, "wanted", {"wanted/__init__.py": ""}, needs)
    plant(site, "helper-pkg", {"helper/__init__.py": ""}, ["deep"])
    plant(site, "deep", {"deep.py": ""}, ["wanted"])
    plant(site, "optional-pkg", {"optional/__init__.py": ""})
    plant(site, "elsewhere", {"elsewhere/__init__.py": ""})
    plant(site, "extra-pkg", {"extra.py": ""}, ["speed; extra == 'fast'", "slow; extra == 'slow'"])
    plant(site, "speed", {"speed.py": ""})
    plant(site, "slow", {"slow.py": ""})
    assert opened("wanted") == {"wanted", "helper", "deep.py", "extra.py", "speed.py"}


def test_of_a_shared_folder_only_its_own_part_is_opened(
    site: Path, opened: Callable[..., set[str]]
) -> None:
    plant(site, "space-a", {"space/a/__init__.py": "", "space/a_file.py": "", "space/c.h": ""})
    plant(site, "space-b", {"space/b/__init__.py": "", "wanted.libs/lib.so.1": ""})
    assert opened("space-a") == {"space/a", "space/a_file.py"}
    assert opened("space-b") == {"space/b", "wanted.libs"}
    # Together they own all of it.
    assert opened("space-a", "space-b") == {"space", "wanted.libs"}
    found = packages(["space-b"])
    assert found.modules["space.b"] == [str(site / "space" / "b")]
    assert found.modules["space"] == [str(site / "space")]


def test_paths_to_elsewhere_are_never_opened(
    site: Path, opened: Callable[..., set[str]], tmp_path: Path
) -> None:
    source = tmp_path / "checkout" / "src"
    plant(source, "ignored", {"edited/__init__.py": "", "../secret.py": ""})
    files = {
        "__editable__.edited.pth": str(source),
        "__editable___edited_finder.py": "",
        "x.pth": "",
    }
    plant(site, "edited", files, notes={"direct_url.json": "{}", "top_level.txt": "edited\n"})
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(source))
        found = packages(["edited"])
    assert found.modules["edited"] == [str(source / "edited")]
    assert source / "edited" in found.paths
    readable = {path.name for path in found.readable() if path.is_relative_to(site)}
    assert readable == {"METADATA"}


def test_a_package_that_no_installer_lists(site: Path, opened: Callable[..., set[str]]) -> None:
    (site / "plain").mkdir()
    (site / "plain" / "__init__.py").write_text("")
    (site / "plain_file.py").write_text("")
    assert opened("plain", "plain_file") == {"plain", "plain_file.py"}
    plant(site, "Distro-Pkg", {"distro/__init__.py": ""}, record=False)
    with pytest.raises(PackageFault, match="'distro_pkg' is not installed"):
        opened("Distro-Pkg")
    notes = {"top_level.txt": "distro\n"}
    plant(site, "Distro-Pkg", {"distro/__init__.py": ""}, record=False, notes=notes)
    assert opened("Distro-Pkg") == {"distro"}


def test_a_package_of_links_is_opened_where_they_lead(site: Path, tmp_path: Path) -> None:
    plant(site, "linked", {"linked/__init__.py": ""})
    store = tmp_path / "store" / "linked"
    store.mkdir(parents=True)
    (site / "linked" / "__init__.py").rename(store / "__init__.py")
    (site / "linked" / "__init__.py").symlink_to(store / "__init__.py")
    assert {site / "linked", store} <= set(packages(["linked"]).paths)


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("nowhere-to-be-found", "the package 'nowhere-to-be-found' is not installed"),
        ("uses-grader", "the package 'uses-grader' depends on the grader"),
        ("importname", "importname is imported from Its-Distribution: name that"),
        ("spread", "a folder without an __init__.py"),
    ],
)
def test_what_cannot_be_given_is_told_in_a_sentence(site: Path, named: str, said: str) -> None:
    plant(site, "uses-grader", {"uses.py": ""}, ["between"])
    plant(site, "between", {"between.py": ""}, ["Gradeformer"])
    files, notes = {"importname/__init__.py": ""}, {"top_level.txt": "importname\n"}
    plant(site, "Its-Distribution", files, notes=notes)
    (site / "spread").mkdir()
    with pytest.raises(PackageFault, match=said):
        packages([named])


def test_versions_are_known_of_what_was_installed(site: Path) -> None:
    plant(site, "wanted-pkg", {"wanted/__init__.py": ""})
    assert (version_of("wanted_pkg"), version_of("not-installed")) == ("1.0", "unknown")


def test_strangers_are_all_that_lies_beside(site: Path) -> None:
    plant(site, "wanted", {"wanted/__init__.py": ""}, notes={"direct_url.json": "{}"})
    plant(site, "secrets-pkg", {"secrets_pkg/__init__.py": "", "space/secret.py": ""})
    plant(site, "space-a", {"space/a/__init__.py": ""})
    (site / "more.pth").write_text("/elsewhere")
    found = strangers(packages(["wanted", "space-a"]))
    inside = {path.relative_to(site).as_posix() for path in found if path.is_relative_to(site)}
    assert inside >= {".", "secrets_pkg", "more.pth", "secrets_pkg-1.0.dist-info"}
    assert inside >= {"wanted-1.0.dist-info/direct_url.json", "wanted-1.0.dist-info/RECORD"}
    assert "space" in inside
    assert not inside & {"wanted", "space/a", "wanted-1.0.dist-info/METADATA"}


# All that is opened.


def below(path: Path, places: Sequence[str]) -> bool:
    return any(path.resolve().is_relative_to(Path(place).resolve()) for place in places)


@pytest.fixture(scope="module")
def usual() -> View:
    return view()


def test_no_folder_of_packages_is_opened_as_a_whole(usual: View) -> None:
    folders = [Path(place) for place in (*usual.readable, *usual.shown)]
    for folder in folders:
        if folder.is_dir() and str(folder) in usual.readable:
            inner = [*folder.glob("site-packages"), *folder.glob("*/site-packages")]
            inner += [*folder.glob("dist-packages"), *folder.glob("*/dist-packages")]
            assert not inner, folder
    for place in (*Path("/usr/lib").glob("python*/*-packages"), *Path("/usr/local/lib").glob("*")):
        assert not below(place, usual.readable)


@pytest.mark.slow
def test_nothing_of_the_grader_is_opened(usual: View) -> None:
    package = Path(__file__).parents[2] / "autograder"
    assert not any(below(path, usual.readable) for path in package.rglob("*.py"))


def test_the_standard_library_torch_and_numpy_are_opened(usual: View) -> None:
    import json

    import numpy
    import torch

    for module in (json, numpy, torch, pytest.importorskip("jinja2")):
        assert below(Path(module.__file__), usual.readable), module


def test_what_lies_around_holds_no_scratch_folder(usual: View) -> None:
    scratch = "/dev/scratch"
    around = usual.around(scratch)
    assert not below(Path(scratch), around)
    assert all(below(Path(place), around) for place in usual.readable)
    assert len(around) < len(usual.readable)


# assignment.toml.


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ('["pandas>=2"]', "packages.0: 'pandas>=2' is no name of a distribution"),
        ('["a/b"]', "packages.0: 'a/b' is no name of a distribution"),
        ('["Gradeformer"]', "packages.0: 'Gradeformer' is the grader"),
        ('"pandas"', "packages: "),
    ],
)
def test_a_wrong_list_is_refused_in_a_sentence(small_project: Path, value: str, said: str) -> None:
    name_packages(small_project, value)
    with pytest.raises(UsageError, match=said):
        load_assignment(small_project, "norm")


def test_a_list_is_read(small_project: Path) -> None:
    assert load_assignment(small_project, "norm").packages == ()
    name_packages(small_project, '["pandas", "scikit-learn"]')
    assert load_assignment(small_project, "norm").packages == ("pandas", "scikit-learn")


def name_packages(project: Path, value: str) -> None:
    path = project / "assignments" / "norm" / "assignment.toml"
    path.write_text(path.read_text().replace("\nseed =", f"\npackages = {value}\nseed =", 1))
    assert "packages" in path.read_text()
