"""What the commands do: each a function that the command line calls with what it has parsed."""
