"""What every room may use: rows of anything, validation, threads, memory, progress, files."""
