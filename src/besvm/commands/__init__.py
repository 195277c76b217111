"""What each command does; the command line itself only parses and prints."""
