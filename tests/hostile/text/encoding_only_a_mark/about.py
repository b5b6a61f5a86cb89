"""Goal: hand in a file that is neither empty nor says anything: a byte order mark alone.

At most: 0
Status: graded
"""
