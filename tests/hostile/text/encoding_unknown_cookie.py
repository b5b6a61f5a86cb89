# -*- coding: [31mklingon -*-
# vim: set fileencoding=klingon :
"""Goal: crash whoever looks the file's encoding up.

At most: 0
Status: import_error
"""
x = 1
