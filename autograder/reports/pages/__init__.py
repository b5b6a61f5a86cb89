"""Pages of a class and of its students, made of result files alone: static, and one file each."""
