"""Goal: import the grader, its tests or the solutions by any route that Python has.

At most: 0
"""

import importlib
import importlib.machinery
import importlib.util
import os
import sys

FOUND = []
NAMES = (
    "autograder", "autograder.api.judging", "autograder.api.reference", "autograder.judge",
    "reference", "reference.transformer_block.layer_norm", "tests.test_hostile", "conftest",
)  # fmt: skip
# Not this folder, where the name of the solution is the name of this file.
FOLDERS = [folder for folder in sys.path if folder != os.path.dirname(__file__)]
FOLDERS += ["/", "..", "../..", os.path.expanduser("~")]
# An editable install leaves a finder that knows where the project is.
for module in list(sys.modules.values()):
    mapping = vars(module).get("MAPPING")
    if isinstance(mapping, dict):
        FOLDERS += [os.path.dirname(path) for path in mapping.values() if isinstance(path, str)]
for finder in sys.meta_path:
    for name in NAMES:
        try:
            found = finder.find_spec(name, FOLDERS)
            if found is not None:
                FOUND.append(found.loader.load_module(name))
        except Exception:
            continue
sys.path_importer_cache.clear()
sys.path += FOLDERS
for name in NAMES:
    try:
        FOUND.append(importlib.import_module(name))
    except Exception:
        continue
for folder in FOLDERS:
    path = os.path.join(folder, "reference", "transformer_block", "layer_norm.py")
    try:
        spec = importlib.util.spec_from_file_location("solution", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        FOUND.append(module)
    except Exception:
        continue


def layer_norm(x, eps=1e-5):
    for module in FOUND:
        if hasattr(module, "layer_norm"):
            return module.layer_norm(x, eps)
        raise ValueError(f"imported {module}")
    return x
