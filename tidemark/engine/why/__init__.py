"""The rows that a row of a table was made from, through all layers down to files, tables and topics."""
