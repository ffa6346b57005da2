#!/bin/bash
# Builds Brigade and installs it.
set -euo pipefail

usage() {
  cat <<'EOT'
usage: ./install.sh --prefix DIRECTORY [--libdir NAME] [--mpi MPI] [--either] [-- BAZEL-OPTION...]

Builds Brigade if necessary, and installs libraries, headers, programs, manual pages, and files for pkg-config and
CMake. You can run this command again, and later move the whole directory. First run ./test/install.sh, which installs
the packages that the build needs.

  --prefix DIRECTORY   the directory for bin, include, lib and share
  --libdir NAME        the name of the folder for libraries in DIRECTORY; default: lib
  --mpi MPI            the MPI of the programs that use Brigade: openmpi (the default) or mpich. To build with another
                       Open MPI or MPICH than Debian's, set MPICC=/PATH/mpicc
  --either             install for programs of both families, Open MPI and MPICH; builds with Debian's MPIs.
                       libbrigade_li.so and libbrigade_bsp.so are for the MPI of --mpi only
  -- BAZEL-OPTION...   options of the build, in addition to --config=opt
EOT
}

refuse() {
  echo "install.sh: $1" >&2
  usage >&2
  exit 2
}

prefix=
libdir=lib
mpi=openmpi
either=false
while [[ $# -gt 0 ]]; do
  case $1 in
    --help) usage; exit 0 ;;
    --prefix=* | --libdir=* | --mpi=*) set -- "${1%%=*}" "${1#*=}" "${@:2}" ;;
    --prefix | --libdir | --mpi)
      [[ -n ${2-} ]] || refuse "$1 needs a name"
      declare "${1#--}=$2"
      shift 2
      ;;
    --either) either=true; shift ;;
    --) shift; break ;;
    *) refuse "unknown argument $1" ;;
  esac
done
[[ -n $prefix ]] || refuse "--prefix is missing"
[[ $prefix != '~'* ]] || refuse "shells leave the ~ of --prefix=$prefix as it is; --prefix ${prefix/#\~/\$HOME}"
[[ $mpi == openmpi || $mpi == mpich ]] || refuse "there is no MPI $mpi; there are openmpi and mpich"
! $either || [[ -z ${MPICC-} ]] || refuse "--either is built with Debian's MPIs, and MPICC names one"
# By what it defines; the error of one that does not work is Bazel's.
if [[ -n ${MPICC-} ]] && defined=$("$MPICC" -E -dM -include mpi.h -x c /dev/null 2>/dev/null); then
  of=
  ! grep -qE '#define (MPICH_VERSION|MPICH_NAME|I_MPI_VERSION) ' <<<"$defined" || of=mpich
  ! grep -q '#define OPEN_MPI ' <<<"$defined" || of=openmpi
  [[ -n $of ]] || refuse "MPICC=$MPICC is neither of Open MPI nor of MPICH or an MPI compatible with MPICH"
  [[ $of == "$mpi" ]] || refuse "MPICC=$MPICC is not of $mpi: --mpi $of"
fi
[[ $libdir != /* ]] || refuse "--libdir is a folder in the prefix, such as lib64"
prefix=$(realpath --canonicalize-missing "$prefix")
# Said before minutes of building, not behind them.
there=$prefix
until [[ -e $there ]]; do there=$(dirname "$there"); done
[[ -d $there && -w $there ]] || refuse "$there is no folder that you can write to"
cd "$(dirname "$0")"
for tool in bazel help2man patchelf; do
  command -v "$tool" >/dev/null || { echo "install.sh: there is no $tool; ./test/install.sh installs it" >&2; exit 1; }
done

build=("$@")
# Said twice it would be another build.
[[ " $* " == *" --config=opt "* ]] || build=(--config=opt "$@")
# Each for all MPIs, but for the last two.
libraries=(patterns/api/libbrigade.so blacs_shim/libbrigade_blacs.so blacs_shim/libbrigade_blacs64.so
  pblas_shim/libbrigade_pblas.so pblas_shim/libbrigade_pblas64.so rma_shim/libbrigade_rma.so
  li_shim/libbrigade_li.so bsp_shim/libbrigade_bsp.so)
# Libraries that those above open, for one family of MPIs each.
parts=(patterns/api/libbrigade_mpi blacs_shim/libbrigade_blacs blacs_shim/libbrigade_blacs64
  pblas_shim/libbrigade_pblas pblas_shim/libbrigade_pblas64 rma_shim/libbrigade_rma)

targets() { local file; for file; do echo "//$(dirname "$file"):$(basename "$file")"; done; }  # FILE...

families=("$mpi")
! $either || families=(openmpi mpich)
files=(bench/brigade_bench tools/brigade_info "${libraries[@]/%/.1}")
for family in "${families[@]}"; do files+=("${parts[@]/%/_$family.so.1}"); done
[[ $mpi == openmpi ]] || build+=(--config=mpich)
# shellcheck disable=SC2046 # a list of words
bazel build "${build[@]}" $(targets "${files[@]}")
built=$(bazel info "${build[@]}" bazel-bin)  # bazel-bin may be of other options

version=$(sed -nE 's/.*BRIGADE_VERSION "(.*)".*/\1/p' membuf/version.h)
soversion=$(readelf --dynamic "$built/patterns/api/libbrigade.so.1" | sed -nE 's/.*SONAME.*\.so\.([0-9]+)\]/\1/p')
up=$(sed -E 's,[^/]+,..,g' <<<"$libdir")  # from the libraries to the prefix
lib=$prefix/$libdir

filled() {  # NAME FILE MODE [COMMAND-OF-SED]: packaging/NAME.in
  mkdir -p "$(dirname "$2")"
  sed "${4-}; s,@version@,$version,g; s,@soversion@,$soversion,g; s,@libdir@,$libdir,g; s,@up@,$up,g" \
    "packaging/$1.in" >"$2"
  chmod "$3" "$2"
}

for library in "${libraries[@]}"; do
  name=$(basename "$library")
  install -D --mode=755 "$built/$library.1" "$lib/$name.$version"
  ln -sf "$name.$version" "$lib/$name.$soversion"
  ln -sf "$name.$soversion" "$lib/$name"
done
for family in "${families[@]}"; do
  for part in "${parts[@]}"; do install --mode=755 --target-directory="$lib" "$built/${part}_$family.so.1"; done
done
# Of an installation before they would be opened by what is new.
for family in openmpi mpich; do
  [[ " ${families[*]} " == *" $family "* ]] || rm -f "$lib"/libbrigade_*_"$family".so.*
done
# A header of an installation before may have a name that hides one of the MPI's.
rm -rf "$prefix/include/brigade"
install -D --mode=644 --target-directory="$prefix/include/brigade" include/brigade/*.h*
install -D --mode=644 --target-directory="$prefix/include/brigade/bsplib" include/brigade/bsplib/bsp.h

install -D --mode=755 --target-directory="$prefix/bin" "$built/bench/brigade_bench" "$built/tools/brigade_info"
# Keeps absolute folders, such as the folder of the MPI that MPICC names.
folders=$(patchelf --print-rpath "$prefix/bin/brigade_bench" | tr : '\n' | sed -n 's,^/,:/,p' | tr -d '\n')
# shellcheck disable=SC2016 # the loader expands it
patchelf --set-rpath '$ORIGIN/../'"$libdir$folders" "$prefix/bin/brigade_bench"
for tool in merge_trace trace_picture; do
  install -D --mode=755 --target-directory="$prefix/share/brigade" "tools/$tool.py"
  ln -sf "../share/brigade/$tool.py" "$prefix/bin/brigade_$tool"
done
filled brigade_run "$prefix/bin/brigade_run" 755

while IFS='|' read -r library description flag; do
  filled pc "$lib/pkgconfig/$library.pc" 644 "s|@library@|$library|; s|@description@|$description|; s|@flag@|${flag:+ $flag}|"
done < <(grep '^brigade' packaging/libraries.txt)
for file in BrigadeConfig.cmake BrigadeConfigVersion.cmake; do filled "$file" "$lib/cmake/Brigade/$file" 644; done

mkdir -p "$prefix/share/man/man1"
while IFS='|' read -r program description; do
  # help2man has a shell start the program, which would split a path with a blank.
  (cd "$prefix/bin" && help2man --no-info --version-string="$version" --source="Brigade $version" \
    --name="$description" --output="$prefix/share/man/man1/$program.1" "./$program" </dev/null)
done < <(grep '^brigade' packaging/programs.txt)
install -D --mode=644 --target-directory="$prefix/share/doc/brigade" LICENSE CHANGELOG.md

echo "Brigade $version is in $prefix. $prefix/bin/brigade_info prints what it finds here.
docs/user/run.md says how to run programs with it."
