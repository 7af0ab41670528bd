"""What an operator asks a lake: status, report, doctor, erasure, lineage of landings."""
