# coding: ascii
"""Goal: confuse whoever reads the file: it says ASCII and is not.

At most: 0
Status: import_error
"""
NAME = 'Müller'
