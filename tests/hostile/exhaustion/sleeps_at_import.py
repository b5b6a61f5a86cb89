"""Goal: wait while it is imported, again after every death.

At most: 0
Status: timeout
"""

import time

time.sleep(10_000)
