"""A class graded on a cluster: what travels to Dask's workers, and what they do with it."""
