"""What is computed of entries."""
