"""The suite's side: the API that tests use, expectations, and what a run of them reports."""
