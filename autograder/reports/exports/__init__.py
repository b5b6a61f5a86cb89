"""Results in the formats of platforms; `registry` knows them all."""
