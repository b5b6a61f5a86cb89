"""Has attributes in its module that pytest, import and help look for, all of them hostile."""

import os


class Hostile:
    __getattr__ = __call__ = lambda self, *args, **kwargs: os._exit(0)
    __iter__ = lambda self: iter(["rescale", "os", "__builtins__", 7])


__all__ = Hostile()
__path__ = ["/"]
__file__ = "/etc/passwd"
__spec__ = __loader__ = __package__ = __doc__ = __cached__ = Hostile()
__test__ = __tracebackhide__ = pytestmark = setup_module = teardown_module = Hostile()
pytest_plugins = ["os", "scale"]


def pytest_runtest_makereport(item, call):
    os._exit(0)


pytest_collection_modifyitems = pytest_pyfunc_call = pytest_runtest_makereport
load_tests = setUpModule = pytest_runtest_makereport


def __dir__():
    return ["__class__", "x" * 10**7, 7, *map(str, range(10**6))]


def __getattr__(name):
    return lambda *args: -1
