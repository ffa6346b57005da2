#!/bin/bash
# Measures Brigade beside its peers on this machine; see --help. The work is in bench/driver/.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# The driver installs the packages of other jobs.
if [[ ! -x /usr/bin/python3 ]]; then
  echo "First come packages, which take a minute."
  "$root/test/install.sh" bench
fi
# Modules are this tree's, and not those of another tree that is the current directory.
PYTHONSAFEPATH=1 PYTHONPATH=$root exec /usr/bin/python3 -m bench.driver "$@"
