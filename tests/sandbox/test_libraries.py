"""What libraries a file needs is read from the file, whatever it holds."""

import shutil
import subprocess
from pathlib import Path

import pytest
import torch
from hypothesis import given, strategies

from autograder.sandbox.libraries import closure, needed_by

TORCH = Path(torch.__file__).parent
EXTENSION = next(TORCH.glob("_C.*.so"))


def test_they_are_what_the_linker_was_told() -> None:
    assert "libtorch_python.so" in needed_by(EXTENSION)
    assert needed_by(Path(__file__)) == []
    assert needed_by(Path("/nowhere")) == []
    if shutil.which("readelf") is None:
        return
    for library in TORCH.glob("lib/libtorch*.so"):
        told = subprocess.run(["readelf", "-d", library], capture_output=True, text=True).stdout
        lines = [line for line in told.splitlines() if "(NEEDED)" in line]
        assert needed_by(library) == [line.partition("[")[2].rstrip("]") for line in lines]


def test_what_they_need_is_found_too(tmp_path: Path) -> None:
    folder = TORCH / "lib"
    known = {path.name: path for path in folder.iterdir()}
    found = {path.name for path in closure([EXTENSION], known)}
    assert {"libtorch_python.so", "libtorch_cpu.so", "libc10.so"} <= found
    assert closure([EXTENSION], {}) == []


@given(data=strategies.data())
def test_a_damaged_file_needs_something_or_nothing(
    data: strategies.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.getbasetemp() / "damaged.so"
    content = bytearray(EXTENSION.read_bytes()[: data.draw(strategies.integers(0, 1 << 14))])
    for _ in range(data.draw(strategies.integers(0, 8))):
        place = data.draw(strategies.integers(0, 2000))
        if 6 <= place < len(content):
            content[place] = data.draw(strategies.integers(0, 255))
    file.write_bytes(content)
    assert all(isinstance(name, str) for name in needed_by(file))
