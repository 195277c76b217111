"""Real data that is not images: where each set comes from, and how its files are read."""
