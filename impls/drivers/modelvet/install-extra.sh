#!/bin/sh
# Gives the compiled C file of the Python package a name of its own.
set -eu
cd "$1"
library=$(find venv/lib -path '*/site-packages/modelvet/_native*.so')
[ -f "$library" ] || { echo "error: the package has no compiled library"; exit 1; }
ln -sf "$library" libmodelvet.so
