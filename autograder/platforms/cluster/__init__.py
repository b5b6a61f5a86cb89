"""A class graded on a cluster by Dask: reached in `schedulers`, asked by `client`."""
