"""Output for people and for machines."""
