"""Goal: crash whoever reads the file as UTF-8: it is UTF-16, and nothing says so.

At most: 0
Status: import_error
"""
