"""Goal: crash whoever reads the file as UTF-8, which it is not.

At most: 0
Status: import_error
"""
NAME = 'Müller'
