"""An error costs its points once: what imports a broken component is graded with a stand-in."""

import json
import subprocess
import sys

import pytest

from tests.conftest import ROOT

SOLUTIONS = ROOT / "reference" / "transformer_block"
NAMES = [path.name for path in SOLUTIONS.glob("*.py")]


def changed(name: str, old: str, new: str) -> dict[str, str]:
    text = (SOLUTIONS / name).read_text()
    assert old in text
    return {name: text.replace(old, new)}


NORM = "return layer_norm(x, self.eps) * self.weight + self.bias"
DOUBLED = changed("layer_norm.py", NORM, "return 2 * (" + NORM.removeprefix("return ") + ")")


def block(old: str, new: str) -> dict[str, str]:
    return changed("transformer_block.py", old, new)


STUDENTS = {
    # A broken norm, and a right block.
    "broken": DOUBLED,
    # Two errors that cancel: the block works with this norm only.
    "cancel": {
        **DOUBLED,
        **block(
            "import LayerNorm\n",
            "import LayerNorm as Norm\n" + "\n\nclass LayerNorm(Norm):\n"
            "    def forward(self, x):\n        return super().forward(x) / 2\n",
        ),
    },
    # The norm cannot even be imported.
    "unimportable": {"layer_norm.py": "def layer_norm(x: pass\n"},
    # A broken norm must not hide that the block calls what it may not.
    "forbidden": {
        "layer_norm.py": "def layer_norm(x: pass\n",
        **block(
            "import LayerNorm\n",
            "import LayerNorm as Norm\nimport torch.nn.functional as F\n"
            "\n\nclass LayerNorm(Norm):\n    def forward(self, x):\n"
            "        return F.layer_norm(x, x.shape[-1:]) * self.weight + self.bias\n",
        ),
    },
    # A broken attention, in a file that also has a helper of the student's own.
    "helper": {
        "attention.py": changed("attention.py", " / math.sqrt(d_k)", "")["attention.py"]
        + "\n\ndef split_heads(x, heads):\n"
        "    return x.reshape(*x.shape[:2], heads, -1).transpose(1, 2)\n",
        **changed(
            "multi_head_attention.py",
            "from attention import scaled_dot_product_attention",
            "from attention import scaled_dot_product_attention, split_heads",
        ),
    },
    # Both are wrong, each in its own way.
    "both": {**DOUBLED, **block("x + self.dropout(attended)", "self.dropout(attended)")},
}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict]:
    folder = tmp_path_factory.mktemp("follow")
    for student, changes in STUDENTS.items():
        for name in NAMES:
            path = folder / "batch" / student / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(changes.get(name, (SOLUTIONS / name).read_text()))
    command = [sys.executable, "-m", "autograder", "grade", str(folder / "batch")]
    command += ["--assignment", "transformer_block", "--out", str(folder / "out")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    paths = (folder / "out" / "results").glob("*.json")
    return {path.stem: json.loads(path.read_text())["components"] for path in paths}


@pytest.mark.parametrize("student", ["broken", "unimportable"])
def test_a_right_block_gets_every_point(results, student: str) -> None:
    found = results[student]
    assert found["layer_norm"]["score"] < 14
    assert found["transformer_block"]["score"] == 16
    assert found["transformer_block"]["status"] == "graded"
    assert found["transformer_block"]["stand_ins"] == ["layer_norm"]
    messages = {c["message"] for c in found["transformer_block"]["criteria"]}
    assert "graded with a working layer_norm" in messages


def test_helpers_beside_a_broken_component_are_still_found(results) -> None:
    found = results["helper"]
    assert found["attention"]["score"] < 18
    assert found["multi_head_attention"]["score"] == 18
    assert found["multi_head_attention"]["stand_ins"] == ["attention"]
    assert found["transformer_block"]["score"] == 16


def test_errors_that_cancel_keep_the_marks_of_the_own_run(results) -> None:
    assert results["cancel"]["layer_norm"]["score"] < 14
    assert results["cancel"]["transformer_block"]["score"] == 16
    assert results["cancel"]["transformer_block"]["stand_ins"] == []


def test_the_rules_hold_beside_a_stand_in(results) -> None:
    component = results["forbidden"]["transformer_block"]
    assert (component["status"], component["score"]) == ("forbidden", 0)
    assert "transformer_block.py, line" in component["message"]


def test_an_error_of_the_block_itself_still_costs(results) -> None:
    assert 0 < results["both"]["transformer_block"]["score"] < 16


def test_what_uses_nothing_broken_is_untouched(results) -> None:
    for student, found in results.items():
        if student == "helper":
            continue
        for name in ("attention", "multi_head_attention", "feed_forward", "lm_head"):
            assert found[name]["score"] == found[name]["max_score"]
            assert found[name]["stand_ins"] == []


def test_a_stand_in_holds_nothing_of_a_solution() -> None:
    for path in (ROOT / "assignments" / "transformer_block" / "stand_ins").glob("*.py"):
        solution = (SOLUTIONS / path.name).read_text()
        inside = solution.split("### BEGIN SOLUTION")[1:]
        secret = {
            line.strip()
            for part in inside
            for line in part.split("### END SOLUTION")[0].splitlines()
            # Shorter lines, and the parameters that the contract names, say nothing.
            if len(line.strip()) > 30 and "nn.Linear(" not in line
        }
        given = {line.strip() for line in path.read_text().splitlines()}
        assert not secret & given, path.name
