"""How others fork, each driven the shortest way its public face has. These run in an environment
of their own (`.build/bench`), so their packages are looked up when they run, not imported."""
