"""What each command of the command line does, one file a command; ``besvm.cli`` only parses."""
