def __getattr__(name):
    # Decorators that run nothing, and checks that always hold.
    return lambda *args, **kwargs: True
