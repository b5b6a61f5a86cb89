"""Makes objects of another class, by __new__, __class__ and __subclasshook__."""


class Counter:
    def __new__(cls, *args):
        return -3

    @classmethod
    def __subclasshook__(cls, other):
        return True

    @classmethod
    def __class_getitem__(cls, item):
        return cls


class Other:
    __bases__ = (int,)
    __mro__ = (int, object)
    __name__ = "int"
    __instancecheck__ = lambda self, other: True


rescale = count = apply = load = Counter = Counter
rescale = load = Other()
