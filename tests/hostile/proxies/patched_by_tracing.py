"""Traces and profiles what asks it, and changes the values of frames on the way."""

import sys
import threading


def trace(frame, event, value):
    if event == "return" and frame.f_globals is not globals():
        for name in list(frame.f_locals):
            frame.f_locals[name] = 41
    return trace


sys.settrace(trace)
sys.setprofile(trace)
threading.settrace(trace)


def answer(*args):
    frame = sys._getframe(1)
    while frame is not None:
        frame.f_trace = trace
        frame = frame.f_back
    return -1


rescale = count = apply = load = Counter = answer
