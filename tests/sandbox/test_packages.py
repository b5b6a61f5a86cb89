"""Where installed packages lie, which of them an assignment may name, and what opens for them."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from autograder.assignment import load_assignment
from autograder.errors import UsageError
from autograder.sandbox.packages import (
    PackageFault,
    View,
    folders,
    modules_of,
    version_of,
    view,
)
from tests.planted import plant


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of installed packages, first on the path."""
    folder = tmp_path / "lib" / "site-packages"
    folder.mkdir(parents=True)
    monkeypatch.syspath_prepend(str(folder))
    return folder


def test_only_folders_of_installed_packages_are_such(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(tmp_path / "checkout", "edited", {"edited.py": ""})
    monkeypatch.syspath_prepend(str(tmp_path / "checkout"))
    (tmp_path / "lib64").symlink_to("lib")
    monkeypatch.syspath_prepend(str(tmp_path / "lib64" / "site-packages"))
    found = folders()
    assert found.count(site) == 1
    assert tmp_path / "checkout" not in found
    assert {folder.name for folder in found} <= {"site-packages", "dist-packages"}


@pytest.mark.parametrize(
    ("files", "listed", "modules"),
    [
        ({"wanted_pkg/__init__.py": "", "alone.py": "", "_inner.py": ""}, "", "wanted_pkg alone"),
        ({"other/__init__.py": "", "wanted_pkg.py": "", "more.txt": ""}, "", "wanted_pkg other"),
        ({"other.cpython-311-x86_64-linux-gnu.so": "", "x.pth": ""}, "", "other"),
        ({"space/a/b.py": "", "wanted_pkg-1.0.data/b.py": ""}, "", "space"),
        ({"a.py": "", "b.py": ""}, "b\ngone\n", "b"),
    ],
)
def test_the_modules_of_a_distribution(
    site: Path, files: dict[str, str], listed: str, modules: str
) -> None:
    plant(site, "Wanted-Pkg", files, notes={"top_level.txt": listed} if listed else None)
    found = modules_of(["wanted-pkg"])["wanted-pkg"]
    assert sorted(found) == sorted(modules.split())
    assert found[0] == modules.split()[0]


def test_a_package_that_is_installed_elsewhere_is_refused(site: Path, tmp_path: Path) -> None:
    source = tmp_path / "checkout" / "src"
    plant(source, "ignored", {"edited/__init__.py": ""})
    files = {"__editable__.edited.pth": str(source), "__editable___edited_finder.py": ""}
    plant(site, "edited", files)
    with pytest.raises(PackageFault, match="'edited' is not installed where the grader runs"):
        modules_of(["edited"])
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(source))
        with pytest.raises(PackageFault, match=r"'edited' lies in .*, outside of the folders"):
            modules_of(["edited"])


def test_a_package_of_links_is_refused(site: Path, tmp_path: Path) -> None:
    plant(site, "linked", {"linked/__init__.py": ""})
    assert modules_of(["linked"]) == {"linked": ["linked"]}
    (tmp_path / "store.py").touch()
    (site / "linked" / "__init__.py").unlink()
    (site / "linked" / "__init__.py").symlink_to(tmp_path / "store.py")
    with pytest.raises(PackageFault, match=r"'linked' lies in .*store\.py, outside of"):
        modules_of(["linked"])


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("nowhere-to-be-found", "the package 'nowhere-to-be-found' is not installed"),
        ("importname", "importname is imported from Its-Distribution: name that"),
    ],
)
def test_what_is_not_installed_is_told_in_a_sentence(site: Path, named: str, said: str) -> None:
    files, notes = {"importname/__init__.py": ""}, {"top_level.txt": "importname\n"}
    plant(site, "Its-Distribution", files, notes=notes)
    with pytest.raises(PackageFault, match=said):
        modules_of([named])


def test_versions_are_known_of_what_was_installed(site: Path) -> None:
    plant(site, "wanted-pkg", {"wanted/__init__.py": ""})
    assert (version_of("wanted_pkg"), version_of("not-installed")) == ("1.0", "unknown")


# All that is opened.


def below(path: Path, places: Sequence[str]) -> bool:
    return any(path.resolve().is_relative_to(Path(place).resolve()) for place in places)


@pytest.fixture(scope="module")
def usual() -> View:
    return view()


def test_folders_of_packages_are_opened_and_nothing_around_them(usual: View) -> None:
    import json

    import numpy
    import torch

    for module in (json, numpy, torch, pytest):
        assert below(Path(module.__file__), usual.readable), module
    for site in usual.sites:
        assert site in usual.readable
        assert not below(Path(site).parents[2], usual.readable)


@pytest.mark.slow
def test_nothing_of_a_checkout_is_opened(usual: View) -> None:
    package = Path(__file__).parents[2] / "autograder"
    assert not any(below(path, usual.readable) for path in package.rglob("*.py"))


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
