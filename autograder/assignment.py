"""An assignment: its `assignment.toml` and where its two folders are."""

from __future__ import annotations

import hashlib
import json
import keyword
import re
import sys
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    Field,
    StrictBool,
    StrictInt,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic.functional_validators import AfterValidator, BeforeValidator

from autograder.errors import UsageError
from autograder.rules.given import code_in
from autograder.sandbox.packages import PackageFault, check_name, modules_of
from autograder.settings import Feedback, Forbidden, Limits, Strict, first_fault, number

PACKAGE = Path(__file__).resolve().parent
# Folders of the public part that every student is given as they are, and every child.
GIVEN = ("provided", "data")
# Folders of either part that decide no mark, and what programs leave in any.
NOT_DECIDING = ("workbook", "right_variants", "wrong_variants")
_LEFT = {"__pycache__", ".pytest_cache", ".hypothesis", ".ipynb_checkpoints", ".git"}
# What a component cannot be called: it is imported beside these.
_TAKEN = (*GIVEN, "tests", "torch", "numpy", "pytest", "hypothesis", "autograder", "conftest")
# By what a text uses torch: it imports it, or has `make` draw tensors.
_TORCH = re.compile(r"^\s*(import|from)\s+torch\b|(?<![.\w])make\.", re.MULTILINE)
# What a worker imports: the rooms that decide a mark.
DECIDING = (
    *("api", "proxies", "rules", "student", "diagnosis", "sandbox", "judge"),
    *("archives.py", "assignment.py", "settings.py", "results.py", "errors.py", "text.py"),
    *("environment.py", "given.py"),
    "grading/messages.py",
)


class ComponentSpec(Strict):
    """One component and what it is worth.

    Attributes:
        name: also that of its file, or of its folder.
        points: what it is worth.
        uses: components before it that it may import.
        program: whether it is run as a program, and not imported.
        package: whether it is a folder of modules with an `__init__.py`, and no single file.
        tests: the names of its files of ordinary tests, where they do not name it.
        limits: the assignment's, with what is said here for this component alone.
        rules: the assignment's, likewise.
    """

    name: str
    points: Annotated[Decimal, BeforeValidator(number), Field(gt=0, le=10_000)]
    uses: tuple[str, ...] = ()
    program: StrictBool = False
    package: StrictBool = False
    tests: tuple[str, ...] = ()
    limits: Limits = Limits()
    rules: Forbidden = Forbidden()

    @property
    def file(self) -> str:
        """The file that is run when it is imported, by its path in a submission."""
        return f"{self.name}/__init__.py" if self.package else f"{self.name}.py"

    @field_validator("name")
    @classmethod
    def _module(cls, name: str) -> str:
        return check_component_name(name)


def check_component_name(name: str) -> str:
    """Return a name that a component can have: its file is a module beside others.

    Raises:
        ValueError: it cannot have this one.
    """
    dunder = name.startswith("__")
    # Python looks for a module by its name in this form.
    same = unicodedata.normalize("NFKC", name) == name
    if not name.isidentifier() or keyword.iskeyword(name) or dunder or not same:
        raise ValueError(f"{name!r} cannot be the name of a Python module")
    if name in sys.stdlib_module_names or name in _TAKEN:
        raise ValueError(f"{name!r} is the name of another module: choose one of its own")
    if name.startswith("test_") or name.endswith("_test"):
        raise ValueError(f"{name!r} is a name that pytest takes for tests: choose another")
    return name


class _Specification(Strict):
    schema_: Annotated[Literal[1], Field(alias="schema")]
    name: str
    title: Annotated[str, Field(min_length=1)]
    seed: StrictInt = 0
    packages: tuple[Annotated[str, AfterValidator(check_name)], ...] = ()
    limits: Limits = Limits()
    rules: Forbidden = Forbidden()
    feedback: Feedback = Feedback()
    components: Annotated[tuple[ComponentSpec, ...], Field(min_length=1)]

    @model_validator(mode="before")
    @classmethod
    def _inherited(cls, data: Any) -> Any:
        """Give every component the assignment's limits and rules where it names none."""
        if not isinstance(data, dict) or not isinstance(data.get("components"), list):
            return data
        components = []
        for component in data["components"]:
            if isinstance(component, dict):
                if "submission_wall_s" in (component.get("limits") or {}):
                    raise ValueError("submission_wall_s is for all components: say it in [limits]")
                inherited = {
                    key: {**data[key], **alone, **own}
                    for key, alone in (("limits", {"submission_wall_s": None}), ("rules", {}))
                    if isinstance(data.get(key), dict)
                    and isinstance(own := component.get(key, {}), dict)
                }
                component = {**component, **inherited}
            components.append(component)
        return {**data, "components": components}

    @field_validator("components")
    @classmethod
    def _distinct(cls, components: tuple[ComponentSpec, ...]) -> tuple[ComponentSpec, ...]:
        names = [component.name for component in components]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"the component {name!r} stands there twice")
        for place, component in enumerate(components):
            for used in component.uses:
                if used not in names[:place]:
                    raise ValueError(
                        f"{component.name!r} uses {used!r}, which is no component before it"
                    )
        return components


@dataclass(frozen=True)
class Assignment:
    """An assignment of the project at `root`; `packages` are what students may use beside torch."""

    root: Path
    name: str
    title: str
    seed: int
    components: tuple[ComponentSpec, ...]
    packages: tuple[str, ...] = ()
    submission_wall_s: float = 150.0
    feedback: Feedback = field(default_factory=Feedback)
    # By file, stubs that take the place of those in `assignments/`.
    fresh: Mapping[str, str] = field(default_factory=dict)

    @property
    def public(self) -> Path:
        """The folder that a student may see."""
        return self.root / "assignments" / self.name

    @property
    def secret(self) -> Path:
        """The folder that a student must never see."""
        return self.root / "reference" / self.name

    @property
    def totals(self) -> dict[str, float]:
        """Points by component, in order."""
        return {component.name: float(component.points) for component in self.components}

    @property
    def max_score(self) -> float:
        """Points of all components."""
        return sum(self.totals.values())

    @property
    def modules(self) -> tuple[str, ...]:
        """The modules that its packages bring along, as far as these are installed here."""
        found: list[str] = []
        for name in self.packages:
            try:
                found += modules_of([name])[name]
            except PackageFault:
                found.append(name.replace("-", "_").lower())
        return tuple(found)

    @property
    def uses_torch(self) -> bool:
        """Whether a rule, a stub, a solution or a test needs torch."""
        for spec in self.components:
            if spec.rules.forbidden or any(f.startswith("torch.") for f in spec.rules.functions):
                return True
        return any(
            _TORCH.search(path.read_text(encoding="utf-8", errors="replace"))
            for _, path in self._sources()
            if path.suffix == ".py"
        )

    def component(self, name: str) -> ComponentSpec:
        """Return a component by its name."""
        return next(spec for spec in self.components if spec.name == name)

    def provided(self) -> dict[str, bytes]:
        """Return provided code and data by relative path, as every child gets them."""
        return {
            path.relative_to(self.public).as_posix(): path.read_bytes()
            for folder in GIVEN
            for path in sorted((self.public / folder).rglob("*"))
            if path.is_file() and "__pycache__" not in path.parts
        }

    def stubs(self) -> dict[str, str]:
        """Return the texts of the stubs, by file: those in `fresh`, else those that are there."""
        there = {
            name: path.read_text(encoding="utf-8")
            for component in self.totals
            for name, path in self.component_files(component, self.public).items()
        }
        return {**there, **self.fresh}

    def component_files(self, component: str, folder: Path) -> dict[str, Path]:
        """Return the files of a component that are there below a folder, by relative path."""
        spec = self.component(component)
        paths = (folder / component).rglob("*.py") if spec.package else [folder / spec.file]
        return {
            path.relative_to(folder).as_posix(): path for path in sorted(paths) if path.is_file()
        }

    def stand_in(self, component: str) -> Path:
        """The file that takes a component's place when others are graded.

        It is the grader's unless it lies where students are given it.
        """
        given = self.given_stand_in(component)
        return given if given.is_file() else self.own_stand_in(component)

    def own_stand_in(self, component: str) -> Path:
        """The file of a stand-in that stays with the grader."""
        return self.secret / "stand_ins" / f"{component}.py"

    def given_stand_in(self, component: str) -> Path:
        """The file of a stand-in that students are given."""
        return self.public / "stand_ins" / f"{component}.py"

    def suite_hash(self, package: Path = PACKAGE) -> str:
        """Return a hash of all that decides a mark but the submission.

        That is the assignment, and of this package what runs in the worker that marks it: how
        results are listed, reported or exported decides nothing. `package` is where that lies.
        """
        digest = hashlib.sha256()
        for name, data in self.deciding(package):
            digest.update(f"{name}\0".encode())
            digest.update(hashlib.sha256(data).digest())
        return digest.hexdigest()

    def deciding(self, package: Path = PACKAGE) -> Iterator[tuple[str, bytes]]:
        """Yield every file that decides a mark: its path below its folder, and what it holds."""
        yield from self.own_deciding()
        for room in DECIDING:
            place = package / room
            for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
                yield path.relative_to(package).as_posix(), path.read_bytes()

    def own_deciding(self) -> Iterator[tuple[str, bytes]]:
        """Yield those of them that are the assignment's."""
        for root, path in self._sources():
            data = path.read_bytes()
            if path == self.public / "assignment.toml":
                data = _without_feedback(data)
            yield path.relative_to(root).as_posix(), data
        # Their code earns nothing where it is handed in.
        for path in self.handouts():
            yield path.name, "\n".join(code_in(path.read_text("utf-8", "replace"))).encode()

    def handouts(self) -> list[Path]:
        """Return the pages that students are given."""
        return sorted(self.public.glob("*.md"))

    def concerns(self, file: str, component: str) -> bool:
        """Whether a file that decides marks decides those of a component.

        Tests and misconceptions of other components do not.
        """
        place, _, name = file.partition("/")
        if place not in ("misconceptions", "tests"):
            return True
        # The right components that patches change are in a folder of the component's name.
        stem = name.partition("/")[0].removesuffix(".py").removesuffix(".diff")
        stem = stem.removeprefix("test_")
        return stem == component or stem not in self.totals

    def files(self) -> Iterator[tuple[Path, Path]]:
        """Yield each file that grading needs, with the folder that it lies below."""
        for root in (self.public, self.secret):
            for path in sorted(root.rglob("*")):
                parts = path.relative_to(root).parts
                # The workbook and what proves a suite have no part in any mark.
                if parts[0] not in NOT_DECIDING and _LEFT.isdisjoint(parts) and path.is_file():
                    yield root, path

    def _sources(self) -> Iterator[tuple[Path, Path]]:
        for root, path in self.files():
            # Beside tests lies what they read.
            whole = path.relative_to(root).parts[0] in (*GIVEN, "tests")
            if whole or path.suffix in (".py", ".toml", ".json", ".diff"):
                yield root, path


def _without_feedback(data: bytes) -> bytes:
    """Return what assignment.toml says of marks: what students are shown decides none."""
    try:
        found = tomllib.loads(data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        return data
    found.pop("feedback", None)
    return json.dumps(found, sort_keys=True, default=str).encode()


def load_assignment(root: Path, name: str) -> Assignment:
    """Read `assignments/<name>/assignment.toml`.

    Raises:
        UsageError: there is no such assignment, or its file is malformed.
    """
    path = root / "assignments" / name / "assignment.toml"
    if Path(name).name != name or not path.is_file():
        if name and Path(name).name == name and path.parent.is_dir():
            what = "is no file" if path.exists() else "is missing"
            raise UsageError(f"{path} {what}: it says what the components of {name} are")
        known = sorted(p.parent.name for p in (root / "assignments").glob("*/assignment.toml"))
        raise UsageError(f"there is no assignment {name!r}; there is: {', '.join(known) or 'none'}")
    tables: dict[str, Any] = {}
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
        found = _Specification.model_validate(tables)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not valid TOML: {error}") from error
    except ValidationError as error:
        raise UsageError(f"{path}: {_with_names(first_fault(error), tables)}") from error
    if found.name != name:
        raise UsageError(f"{path}: name is {found.name!r}, but its folder is called {name!r}")
    named = (found.name, found.title, found.seed, found.components, found.packages)
    longest = max(spec.limits.component_wall_s for spec in found.components)
    wall_s = found.limits.submission_wall_s or 2.5 * longest
    loaded = Assignment(root.resolve(), *named, wall_s, found.feedback)
    return replace(loaded, components=tuple(_as_it_lies(spec, loaded) for spec in found.components))


def _as_it_lies(spec: ComponentSpec, assignment: Assignment) -> ComponentSpec:
    """Return a component as a package where that is what lies there."""
    folders = [folder / spec.name for folder in (assignment.public, assignment.secret)]
    is_package = any((folder / "__init__.py").is_file() for folder in folders)
    return spec.model_copy(update={"package": True}) if is_package else spec


def _with_names(said: str, tables: dict[str, Any]) -> str:
    """Say a component's name where its number in the list stands."""

    def named(found: re.Match[str]) -> str:
        component = tables["components"][int(found[1])]
        name = component.get("name") if isinstance(component, dict) else None
        return f"component {name!r}, " if isinstance(name, str) else found[0]

    return re.sub(r"^components\.(\d+)\.", named, said)
