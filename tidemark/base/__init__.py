"""What all rooms use: errors, time, output, messages, connections."""
