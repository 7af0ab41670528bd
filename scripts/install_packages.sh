#!/bin/sh
# Makes .venv/ with the packages of requirements.lock, each checked by its hash, and this project in editable form.
# uv takes a sixth of pip's time. It does not read pip's configuration: where it cannot install, pip does.
# Usage: install_packages.sh PYTHON
set -eu

"$1" -m venv .venv
python=.venv/bin/python
sed -n '/^uv==/,/^ *# via/p' requirements.lock >.venv/uv.lock
$python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r .venv/uv.lock
if ! .venv/bin/uv pip install --quiet --python "$python" --no-deps --require-hashes -r requirements.lock 2>.venv/uv.log; then
    echo "uv cannot install the packages (.venv/uv.log says why): pip does, in some minutes"
    $python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements.lock
fi
# the former name of this project, which has the same command
$python -m pip uninstall --quiet --quiet --yes tidemark
rm -rf tidemark.egg-info
$python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
