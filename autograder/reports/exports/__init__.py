"""Results in the formats of platforms, a module a format; `registry` knows them all."""
