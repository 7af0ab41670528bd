"""What `make setup` prepares besides the packages and jars."""
