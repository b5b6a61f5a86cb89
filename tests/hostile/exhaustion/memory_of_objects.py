"""Goal: double a list until the memory of the machine is full.

At most: 0
Status: import_error, crashed, timeout
"""

much = [0]
while True:
    much += much
