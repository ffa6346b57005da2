#!/bin/bash
# Runs unit tests, given as modules, with the Python that has Debian's packages.
set -euo pipefail

cd "${TEST_SRCDIR:-.}/${TEST_WORKSPACE:-.}"
export MPLCONFIGDIR=${TEST_TMPDIR:-$(mktemp -d)} PYTHONPATH=tools
exec /usr/bin/python3 -m unittest "$@"
