"""Goal: crash whoever reads the file as UTF-8: it is UTF-16 with a byte order mark.

At most: 0
Status: import_error
"""
