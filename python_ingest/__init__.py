"""Landing: files, tables and topics become bronze tables, each row exactly once."""
