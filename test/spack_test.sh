#!/bin/bash
# Spack's recipe: Spack's own audit has no complaint, its solver finds what the recipe wants, and Spack installs this
# checkout, with Debian's compiler and Open MPI. Spack is cloned from GitHub, and removed. The last line counts.
# BRIGADE_SPACK=FOLDER names a folder with spack/ and spack-packages/, which are then taken as they are.
set -uo pipefail

cd "$(dirname "$0")/.." || exit 1
. test/support/checks.sh
export TMPDIR=$work OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

clone() {  # NAME BRANCH
  GIT_TERMINAL_PROMPT=0 timeout 600 git clone --quiet --depth 1 --branch "$2" "https://github.com/spack/$1" "$folder/$1"
}
folder=${BRIGADE_SPACK:-$work}
# Spack, and the branch that it would clone itself.
if [[ -z ${BRIGADE_SPACK-} ]] && ! { clone spack v1.1.0 && clone spack-packages releases/v2025.11; }; then
  skip "Spack" "which cannot be cloned from GitHub"
  finish
fi
# Spack would fetch its solver from elsewhere.
if ! python3 -m venv "$work/python" || ! "$work/python/bin/pip" install --quiet clingo; then
  skip "Spack" "whose solver PyPI does not give"
  finish
fi

# Nothing of the user's, and nothing left to the user.
export SPACK_PYTHON=$work/python/bin/python3 SPACK_USER_CONFIG_PATH=$work/config SPACK_USER_CACHE_PATH=$work/cache \
  SPACK_SYSTEM_CONFIG_PATH=$work/nothing
mkdir "$work/config"
cat >"$work/config/repos.yaml" <<EOT
repos:
  brigade: $PWD/packaging/spack/spack_repo/brigade
  builtin: $folder/spack-packages/repos/spack_repo/builtin
EOT
cat >"$work/config/config.yaml" <<EOT
config:
  install_tree:
    root: $work/tree
  build_stage: [$work/stage]
EOT
# Debian's packages are taken instead of builds of Spack's, which would take hours. Spack does not find most of them.
debian() { dpkg-query --show --showformat '${Version}' "$1" | sed -E 's/^[0-9]+://; s/[-+~].*//'; }
cat >"$work/config/packages.yaml" <<EOT
packages:
  gcc:
    externals:
    - spec: gcc@$(gcc -dumpfullversion) languages:='c,c++'
      prefix: /usr
      extra_attributes: {compilers: {c: /usr/bin/gcc, cxx: /usr/bin/g++}}
    buildable: false
  openmpi:
    externals: [{spec: openmpi@$(ompi_info --version | sed -n 's/^Open MPI v//p'), prefix: /usr}]
    buildable: false
EOT
while read -r name package; do
  cat >>"$work/config/packages.yaml" <<EOT
  $name:
    externals: [{spec: $name@$(debian "$package"), prefix: /usr}]
    buildable: false
EOT
done <<EOT
cli11 libcli11-dev
cmake cmake
gmake make
help2man help2man
liburing liburing-dev
libsodium libsodium-dev
nlohmann-json nlohmann-json3-dev
pkgconf pkgconf
python python3
EOT
spack() { "$folder/spack/bin/spack" "$@"; }

installed() {
  local prefix
  spack dev-build --source-path "$PWD" "$brigade" ^openmpi && prefix=$(spack location --install-dir brigade) &&
    "$prefix/bin/brigade_info" | grep '^  shm  *yes' && [[ -f $prefix/share/man/man1/brigade_run.1 ]] &&
    readelf --dynamic "$prefix/bin/brigade_bench" | grep 'NEEDED.*libmpi'
}

refuses_other_mpis() {
  ! spack spec "$brigade" '^mpi-serial' >"$work/refusal" 2>&1 || return
  grep "Brigade is for Open MPI" "$work/refusal" || { cat "$work/refusal"; false; }
}

without_mpi() { spack spec "$brigade" ~mpi >"$work/spec" && ! grep -i mpi@ "$work/spec"; }

brigade="brigade@$(sed -nE 's/.*BRIGADE_VERSION "(.*)".*/\1/p' membuf/version.h)"
check "the audit" spack audit packages brigade
check "what it takes" spack spec "$brigade" '^openmpi'
check "what it takes without MPI" without_mpi
check "what it refuses" refuses_other_mpis
check "an installation" installed
find . -maxdepth 1 -lname "$work/*" -delete  # Spack's, to its logs
finish
