"""The test's side of ordinary tests: what stands for a component in another process."""
