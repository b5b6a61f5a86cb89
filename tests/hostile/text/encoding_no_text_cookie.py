# coding: rot13
"""Goal: have the file decoded by a codec that is none for text.

At most: 0
Status: import_error
"""
k = 1
