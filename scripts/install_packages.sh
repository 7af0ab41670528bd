#!/bin/sh
# Makes a virtual environment with the packages of locks, each checked by its hash, and this project in editable form.
# Packages of a later lock replace those of an earlier one: an older dbt-core, for example.
# uv takes a sixth of pip's time. It does not read pip's configuration: where it cannot install, pip does.
# Usage: install_packages.sh PYTHON FOLDER LOCK...
set -eu

folder=$2
python=$folder/bin/python
if [ ! -x "$folder/bin/uv" ]; then
    "$1" -m venv "$folder"
    sed -n '/^uv==/,/^ *# via/p' requirements.lock >"$folder/uv.lock"
    $python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r "$folder/uv.lock"
fi
shift 2
for lock in "$@"; do
    if ! "$folder/bin/uv" pip install --quiet --python "$python" --no-deps --require-hashes -r "$lock" 2>"$folder/uv.log"; then
        echo "uv cannot install the packages ($folder/uv.log says why): pip does, in some minutes"
        $python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r "$lock"
    fi
done
# a second lock needs no second installation of this project
site=$(echo "$folder"/lib/python*/site-packages)
[ -z "$(find "$site" -maxdepth 1 -name 'dbt_tidemark-*.dist-info' -newer pyproject.toml)" ] || exit 0
# the former name of this project, which has the same command
$python -m pip uninstall --quiet --quiet --yes tidemark
rm -rf tidemark.egg-info
$python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
