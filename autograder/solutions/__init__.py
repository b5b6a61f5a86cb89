"""What only the judge holds: reference answers, plans, misconceptions and their variants."""
