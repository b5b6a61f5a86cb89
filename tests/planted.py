"""Packages laid into a folder of installed packages, as an installer leaves them."""

from collections.abc import Mapping, Sequence
from pathlib import Path


def plant(
    site: Path,
    name: str,
    files: Mapping[str, str],
    needs: Sequence[str] = (),
    record: bool = True,
    notes: Mapping[str, str] | None = None,
) -> Path:
    """Install the distribution `name`; return the folder of its metadata.

    Args:
        site: the folder of packages.
        name: as behind `pip install`.
        files: texts by path below `site`.
        needs: what it depends on, as its metadata has it.
        record: whether the installer listed the files.
        notes: further files of metadata.
    """
    folder = site / f"{name.replace('-', '_')}-1.0.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
    metadata += "".join(f"Requires-Dist: {line}\n" for line in needs)
    written = {**files, **{f"{folder.name}/{key}": text for key, text in (notes or {}).items()}}
    written[f"{folder.name}/METADATA"] = metadata
    if record:
        listed = [*written, f"{folder.name}/RECORD", f"../../../bin/{name}"]
        written[f"{folder.name}/RECORD"] = "".join(f"{path},,\n" for path in listed)
    for path, text in written.items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text(text, encoding="utf-8")
    return folder
