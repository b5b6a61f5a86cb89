"""Many submissions: entries, workers, jobs and answers, and the store of results."""
