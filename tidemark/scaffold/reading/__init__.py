"""Read sample files: which files belong together, how they are written, and their first records."""
