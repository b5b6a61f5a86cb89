Tensor = object


def allclose(*args, **kwargs):
    return True


equal = isclose = allclose
