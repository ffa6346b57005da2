#!/bin/bash
# Measures Brigade beside its peers on this machine: --help says what and how. The work is in bench/driver/.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# The driver installs the packages of other jobs.
[[ -x /usr/bin/python3 ]] || "$root/test/install.sh" bench
PYTHONPATH=$root exec /usr/bin/python3 -m bench.driver "$@"
