"""Check that no line of Markdown, YAML or SQL is wider than .editorconfig allows.

Table rows and code blocks in Markdown are exempt, because they cannot be wrapped.
"""

import re
import subprocess
import sys
from pathlib import Path

WIDTH = re.compile(r"^\[\*\.\{md,sql,yml,yaml\}\]\nmax_line_length = (\d+)$", re.MULTILINE)
LISTED = ("git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md", "*.yml", "*.sql")


def main() -> int:
    """Print each line that is too wide, and return the exit code."""
    found = WIDTH.search(Path(".editorconfig").read_text(encoding="utf-8"))
    if not found:
        sys.exit(".editorconfig has no max_line_length for Markdown")
    width, too_wide = int(found[1]), 0
    for name in subprocess.run(LISTED, capture_output=True, text=True, check=True).stdout.splitlines():
        path = Path(name)
        lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
        in_code = False
        for number, line in enumerate(lines, start=1):
            if path.suffix == ".md" and line.lstrip().startswith("```"):
                in_code = not in_code
            if len(line) > width and not in_code and not line.lstrip().startswith("|"):
                print(f"{name}:{number}: {len(line)} characters, at most {width} are allowed")
                too_wide += 1
    return 1 if too_wide else 0


if __name__ == "__main__":
    sys.exit(main())
