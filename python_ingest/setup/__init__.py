"""What `make setup` fetches and prepares."""
