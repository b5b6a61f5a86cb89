"""Where the product meets others': nbgrader, pipelines, clusters, copydetect.

Each folder adapts one of them to `grading` and `reports`. Only the command line imports them, and
only an extra's folder imports the extra.
"""
