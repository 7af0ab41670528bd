#!/bin/sh
# Is there a Python and a Java that this project runs on? One sentence with the fix if not.
# Usage: check_machine.sh PYTHON
set -u

fail() {
    echo "Error: $1" >&2
    exit 1
}

command -v "$1" >/dev/null 2>&1 ||
    fail "there is no '$1' here. Install Python 3.11 to 3.13, or name it: make PYTHON=/path/to/python3"
"$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' ||
    fail "$("$1" --version 2>&1) is not supported. Install Python 3.11 to 3.13, or name it: make PYTHON=python3.12"
"$1" -c 'import ensurepip, venv' 2>/dev/null ||
    fail "this Python cannot make virtual environments. Install its venv package (Debian: apt install python3-venv)"

java=${JAVA_HOME:+$JAVA_HOME/bin/}java
command -v "$java" >/dev/null 2>&1 ||
    fail "there is no Java here. Install Java 17 or 21 (Debian: apt install openjdk-17-jre-headless), or set JAVA_HOME"
version=$("$java" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p')
case "$version" in
    17 | 21) ;;
    *) fail "Java ${version:-of an unknown version} is not supported by Spark 4.1. Install Java 17 or 21, or set JAVA_HOME to it" ;;
esac
