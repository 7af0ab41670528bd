"""What the commands do, and what they print."""
