"""Goal: have the first word missed, by a byte order mark and a cookie that contradicts nothing.

At most: 14
"""
