"""How a path in an archive is written."""

MEMBER = "!/"  # between the path of an archive and the path in it
