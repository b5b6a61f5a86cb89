"""Goal: have tabs and spaces mean one thing to the reader and another to Python.

At most: 0
Status: import_error
"""
if True:
        x = 1
	y = 2
																																																																																																																																																																																																																																																																																																																																																																																																																																																																																																																				z = 3
