"""What travels to a cluster, and what is said where it cannot; nothing here needs Dask."""
