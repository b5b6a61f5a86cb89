"""Returns objects that have every attribute that anybody asks for, also pytest."""


class Everything:
    def __getattr__(self, name):
        return self

    def __call__(self, *args, **kwargs):
        return self

    __wrapped__ = property(lambda self: self)
    __test__ = True
    pytestmark = _pytestfixturefunction = __tracebackhide__ = property(lambda self: self)
    __set_name__ = __get__ = __init_subclass__ = lambda self, *args, **kwargs: self
    __mro_entries__ = lambda self, bases: (object,)
    __signature__ = __code__ = __bases__ = __mro__ = property(lambda self: self)


rescale = count = apply = load = Counter = Everything()
