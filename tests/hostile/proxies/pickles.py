"""Returns objects that run something where they are unpickled, copied or formatted."""

import copyreg
import os


class Runs:
    def __reduce_ex__(self, protocol):
        return os.system, ("touch /tmp/gradeformer-hostile-pickle",)

    __reduce__ = lambda self: self.__reduce_ex__(2)
    __getstate__ = lambda self: {"x": Runs()}
    __copy__ = __deepcopy__ = lambda self, *args: 40
    __format__ = lambda self, spec: "40"


copyreg.pickle(int, lambda number: (os.system, ("touch /tmp/gradeformer-hostile-copyreg",)))


rescale = count = apply = load = Counter = lambda *args: Runs()
