"""What is ordinary in a submission: lists of what it may import, name and call.

They are lists of what is known, not of tricks: what is on none of them is for a person to look at.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import re
import sys
from collections.abc import Collection
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    CoroutineType,
    FrameType,
    FunctionType,
    GeneratorType,
    MethodType,
    ModuleType,
    TracebackType,
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Modules, by full name. One with a star allows those below it, too, except private ones.
MODULES = _words("""
__future__ abc argparse array ast asyncio base64 binascii bisect bz2 calendar cmath cmd collections
collections.abc colorsys concurrent concurrent.futures configparser contextlib contextvars copy csv
dataclasses datetime decimal difflib email.* enum errno filecmp fileinput fnmatch fractions
functools getopt getpass glob graphlib gzip hashlib heapq hmac html ipaddress itertools json keyword
locale logging lzma math mimetypes ntpath numbers operator os os.path pathlib platform posixpath
pprint queue random re reprlib sched secrets shlex shutil stat statistics string struct tarfile
tempfile textwrap threading time token tokenize tomllib traceback typing typing_extensions
unicodedata urllib.error urllib.parse urllib.request uuid warnings wave weakref xml xml.dom
xml.dom.minidom xml.etree xml.etree.ElementTree zipfile zlib zoneinfo
torch torch.accelerator torch.amp torch.autograd torch.autograd.function torch.autograd.functional
torch.backends.* torch.cpu torch.cuda torch.cuda.amp torch.distributions.* torch.fft torch.func
torch.functional torch.linalg torch.masked torch.mps torch.mtia torch.nn torch.nn.attention
torch.nn.functional torch.nn.init torch.nn.modules.* torch.nn.parallel torch.nn.parameter
torch.nn.utils.* torch.optim.* torch.profiler torch.random torch.return_types torch.signal
torch.sparse torch.special torch.testing torch.types torch.utils
torch.utils.data torch.utils.data.dataloader torch.utils.data.dataset torch.utils.data.distributed
torch.utils.data.sampler torch.version torch.xpu
numpy numpy.char numpy.dtypes numpy.exceptions numpy.fft numpy.linalg
numpy.ma numpy.polynomial.* numpy.random numpy.rec numpy.strings numpy.typing
""")
# What of Python's own functions runs text, or opens a module's inside.
BUILTINS = _words("eval exec compile __import__ globals locals breakpoint __build_class__") | {
    name
    for name in dir(builtins)
    if name.startswith("__") and name not in ("__debug__", "__doc__", "__name__")
}
# Where they are named they are read; the originals in their module are not for submissions.
CHECKED = _words("getattr vars")
# Modules of which only some names are ordinary.
PARTS = {
    "builtins": frozenset(dir(builtins)) - BUILTINS - CHECKED,
    "concurrent": _words("futures"),
    "codecs": _words("decode encode BOM_UTF8 getencoder getdecoder"),
    "importlib": _words("metadata resources"),
    "importlib.metadata": _words("version PackageNotFoundError"),
    "importlib.resources": _words("files open_text open_binary read_text read_binary as_file"),
    # Without signature and getfullargspec: defaults of a library's functions may be modules.
    "inspect": _words("getdoc cleandoc getsource getmro getgeneratorstate getcoroutinestate")
    | {name for name in dir(inspect) if name.startswith("is")},
    "multiprocessing": _words("cpu_count Pool Process"),
    "io": _words("""StringIO BytesIO TextIOWrapper SEEK_SET SEEK_CUR SEEK_END TextIOBase IOBase
        open"""),
    "gc": _words("collect enable disable"),
    "numpy.testing": _words("""assert_allclose assert_almost_equal assert_approx_equal
        assert_array_almost_equal assert_array_equal assert_array_less assert_equal
        assert_raises"""),
    "numpy.lib": _words("stride_tricks"),
    # Without as_strided, which reads and writes any memory.
    "numpy.lib.stride_tricks": _words("""broadcast_arrays broadcast_shapes broadcast_to
        sliding_window_view"""),
    "string": _words("""ascii_letters ascii_lowercase ascii_uppercase digits hexdigits octdigits
        punctuation printable whitespace capwords Template"""),
    "resource": _words("getrusage RUSAGE_SELF"),
    "sys": _words("""argv exit stdin stdout stderr maxsize maxunicode float_info int_info hash_info
        version version_info platform byteorder getsizeof getrecursionlimit setrecursionlimit
        executable flags implementation intern getdefaultencoding path exc_info
        getrefcount set_int_max_str_digits get_int_max_str_digits float_repr_style"""),
    "timeit": _words("default_timer"),
    "tracemalloc": _words("start stop is_tracing get_traced_memory reset_peak clear_traces"),
    "torch.autograd.graph": _words("save_on_cpu saved_tensors_hooks"),
    "torch.distributed": _words("""is_available is_initialized get_rank get_world_size barrier
        init_process_group destroy_process_group all_reduce all_gather broadcast ReduceOp"""),
    "types": _words("""SimpleNamespace MappingProxyType GeneratorType FunctionType LambdaType
        MethodType ModuleType NoneType EllipsisType TracebackType GenericAlias UnionType
        BuiltinFunctionType"""),
    # What hands out or takes torch's operators themselves is left out.
    "torch.utils.checkpoint": _words("checkpoint checkpoint_sequential"),
    "torch.utils.flop_counter": _words("FlopCounterMode"),
    "torch.utils.tensorboard": _words("SummaryWriter"),
    "unittest": _words("""TestCase TestSuite TextTestRunner skip skipIf skipUnless SkipTest
        expectedFailure"""),
    "urllib": _words("error parse request"),
}
# Of a module that is ordinary otherwise: what runs text, reads stored objects or lends attributes.
UNUSUAL = _words("""
typing.get_type_hints typing.ForwardRef typing_extensions.get_type_hints
typing_extensions.ForwardRef typing_extensions.get_annotations
typing_extensions.evaluate_forward_ref typing.evaluate_forward_ref torch.from_file
torch.UntypedStorage torch.TypedStorage torch.compiler torch.testing.make_tensor
asyncio.create_subprocess_exec asyncio.create_subprocess_shell threading.settrace
threading.setprofile threading.settrace_all_threads threading.setprofile_all_threads
string.Formatter torch.utils.data.graph logging.config collections.sys os.popen os.fork os.forkpty
os.posix_spawn os.posix_spawnp os.startfile os.execl os.execle os.execlp os.execlpe os.execv
os.execve os.execvp os.execvpe os.spawnl os.spawnle os.spawnlp os.spawnlpe os.spawnv os.spawnve
os.spawnvp os.spawnvpe functools.singledispatch functools.singledispatchmethod
dataclasses.make_dataclass torch.utils.data.argument_validation torch.utils.data.runtime_validation
torch.get_device_module torch.CompilationUnit torch.parse_ir torch.parse_schema
torch.parse_type_comment torch.import_ir_module torch.import_ir_module_from_buffer
torch.ScriptModule torch.ScriptFunction torch.ScriptMethod torch.ScriptObject torch.ScriptClass
torch.ScriptClassFunction torch.ScriptDict torch.ScriptList torch.Graph torch.Block torch.Node
torch.Value torch.Gradient torch.Code torch.ClassType torch.PyTorchFileReader
torch.PyTorchFileWriter torch.DeserializationStorageContext torch.fork torch.wait torch.JITException
torch.LiteScriptModule torch.CallStack torch.GraphExecutorState torch.ExecutionPlan
torch.FunctionSchema torch.DisableTorchFunction torch.DisableTorchFunctionSubclass torch.DispatchKey
torch.DispatchKeySet torch.merge_type_from_type_comment torch.unify_type_list torch.freeze_model
torch.import_ir torch.script_if_tracing enum.global_enum traceback.walk_stack traceback.walk_tb
logging.currentframe torch.utils.data.IterDataPipe torch.utils.data.MapDataPipe
torch.utils.data.DFIterDataPipe torch.utils.data.functional_datapipe
""")
# By these a text imports, opens or runs what it need not name; also of a module all that is in it.
COMPUTED = _words("""
__import__ eval exec compile globals __globals__ __builtins__ __build_class__ __loader__ __spec__
__subclasses__ f_globals f_locals f_builtins _imp _frozen_importlib _frozen_importlib_external
builtins code codeop dill imp importlib joblib marshal multiprocessing pickle pkgutil profile runpy
shelve subprocess sys.meta_path sys.modules sys.path_hooks timeit torch.hub torch.package trace
zipimport
""")
# These read stored objects, or run texts, if they are told to.
LOADERS = _words("torch.load numpy.load")
# By which keywords functions are told to run texts, and the value that says they must not.
RUNS_TEXT = {"weights_only": True, "allow_pickle": False, "eval_str": False, "pickle_module": None}
# The names of the interpreter that have no underscore in front.
INTERPRETER = frozenset(
    name
    for kind in (FrameType, CodeType, TracebackType)
    for name in dir(kind)
    if name.startswith(("f_", "co_", "tb_"))
) | _words("gi_frame gi_code gi_yieldfrom cr_frame cr_code cr_await cr_origin ag_frame ag_code")
# It runs annotations, on whatever signature it is asked for.
INTERPRETER |= {"from_callable"}
# The protocol of classes, and what modules and classes say about themselves.
_BINARY = "add sub mul truediv floordiv mod divmod pow matmul and or xor lshift rshift"
_BETWEEN_UNDERSCORES = f"""
neg pos abs invert int float complex index round trunc floor ceil bool hash len str repr
lt le eq ne gt ge {_BINARY}
init new del call iter next getitem setitem delitem contains missing reversed length_hint
enter exit aenter aexit aiter anext await getattr setattr delattr get set delete set_name
cause context traceback suppress_context notes members args origin parameters
required_keys optional_keys total
init_subclass class_getitem subclasshook instancecheck subclasscheck post_init slots
format bytes sizeof dir fspath copy deepcopy getstate setstate reduce array array_priority
class name qualname module doc annotations mro
all file main debug version author email license date copyright credits status maintainer
future division print_function absolute_import generator_stop unicode_literals
"""
PROTOCOL = frozenset(f"__{name}__" for name in _BETWEEN_UNDERSCORES.split()) | {
    f"__{kind}{name}__" for name in _BINARY.split() for kind in "ri"
}
# A name of this kind that a submission makes up itself is its own, unless it means something to
# the interpreter or to the libraries.
_INTERPRETERS_OWN: tuple[type, ...] = (
    FrameType,
    CodeType,
    TracebackType,
    FunctionType,
    MethodType,
    ModuleType,
    type,
)
_INTERPRETERS_OWN += (GeneratorType, CoroutineType, BuiltinFunctionType, CellType, property, object)
TAKEN = frozenset(name for kind in _INTERPRETERS_OWN for name in dir(kind)) | _words("""
__builtins__ __build_class__ __cached__ __import__ __loader__ __package__ __path__ __prepare__
__spec__ __mro_entries__ __wrapped__ __getnewargs__ __getnewargs_ex__ __set_state__ __match_args__
""")
TAKEN_BEGINNINGS = ("__torch", "__array_", "__dlpack", "__cuda", "__dataframe")
# Ordinary to be asked for, but nobody gives an own meaning to these.
NEVER_BOUND = _words("__name__ __class__")
# Names under which torch's operations and raw memory lie in others, on whatever it may be.
LEADS_ON = _words("aten ctypes multiprocessing_context")
# To be defined, not asked for; a class's own way to look up attributes may be gone round by them.
DEFINED_ONLY = _words("""__getattr__ __annotations__ __getstate__ __setstate__ __reduce__ __get__
    __set__ __delete__""")
# Of a library's classes these set what is on none of the lists.
SETTERS = _words("__setattr__ __delattr__")
# With one underscore, but documented for everybody.
PUBLIC = _words("""_replace _asdict _fields _make _field_defaults _value_ _name_ _missing_
_generate_next_value_ _ignore_ _order_ _repr_html_ _ _modules _parameters _buffers _exit""")
# Private, but what courses and torch's own pages build on: base classes, and helpers for sizes.
BUILT_ON = _words("""
torch.nn.init._calculate_correct_fan torch.nn.init._calculate_fan_in_and_fan_out
torch.nn.modules.batchnorm._BatchNorm torch.nn.modules.conv._ConvNd
torch.nn.modules.loss._Loss torch.nn.modules.loss._WeightedLoss torch.nn.modules.utils._pair
torch.nn.modules.utils._single torch.nn.modules.utils._triple
torch.optim.lr_scheduler._LRScheduler
""")
# Private to torch's own classes, but known to many who inherit from them.
INHERITED = _words("""_apply _load_from_state_dict _save_to_state_dict _forward_hooks
_forward_pre_hooks _backward_hooks _get_name _named_members _non_persistent_buffers_set
_register_state_dict_hook _register_load_state_dict_pre_hook _step_count _last_lr _initial_step
_get_lr_called_within_step""")
# What of libraries may be set.
_SET = ("torch.backends.", "sys.stdin", "sys.stdout", "sys.stderr", "sys.argv", "numpy.random.")


@functools.cache
def _by_identity(loaded: frozenset[str]) -> dict[int, str]:
    found: dict[int, str] = {}
    for dotted in (*UNUSUAL, *LOADERS):
        value: object = sys.modules.get(dotted.partition(".")[0])
        for name in dotted.split(".")[1:]:
            value = getattr(value, name, None)
        if value is not None and not isinstance(value, ModuleType):
            found[id(value)] = dotted
    return found


def listed_name(value: object, dotted: str) -> str:
    """Return the name by which a list has a function or class, whatever it is called here.

    Args:
        value: what it is; None where that is not known.
        dotted: what it is called, which stays if it is on none of the lists.
    """
    loaded = frozenset(name for name in ("torch", "numpy", "asyncio") if name in sys.modules)
    return _by_identity(loaded).get(id(value), dotted)


def is_lent(module: str, name: str, value: object) -> bool:
    """Return whether a module that came as a value is asked for something ordinary in it.

    Packages of the assignment have no lists; what lies in them is asked in turn.
    """
    top = module.partition(".")[0]
    if top not in sys.stdlib_module_names and top not in ("torch", "numpy", "torchgen"):
        return True
    if not covers(module) or (module in PARTS and name not in PARTS[module]):
        return False
    listed = listed_name(value, f"{module}.{name}")
    return listed not in UNUSUAL


def covers(module: str) -> bool:
    """Return whether a module is on the lists, by itself or by a star."""
    above = module
    while above:
        if f"{above}.*" in MODULES:
            return True
        above = above.rpartition(".")[0]
    return module in MODULES or module in PARTS


def is_listed(names: Collection[str], dotted: str) -> bool:
    """Return whether a full name, or what holds it, is among some."""
    return any(dotted == name or dotted.startswith(f"{name}.") for name in names)


def is_computed(words: str) -> bool:
    """Return whether what is said of a place may import, open or run what no text names."""
    if words.startswith(("calls", "cannot be read", "hands", "is written")):
        return True
    return any(is_listed(COMPUTED, word) for word in re.findall(r"[\w.]+", words))


def is_taken(name: str) -> bool:
    """Return whether a name with two underscores around it means something to others."""
    return name in TAKEN or name.startswith(TAKEN_BEGINNINGS)


def may_be_set(name: str) -> bool:
    """Return whether a name of a module may be given another value."""
    return name.startswith(_SET)
