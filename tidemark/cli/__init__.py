"""The work and the output of the commands."""
