"""What pages say, held against the code."""
