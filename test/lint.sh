#!/bin/bash
# Style and mistakes that a program can see. Each linter reads its own settings, in the root of the project.
set -euo pipefail

usage() {
  cat <<'EOT'
usage: ./test/lint.sh [NAME...]

Runs the linters that are named, or all of them. The exit code is 0 if none complains. ./test/install.sh full installs
them.

  format     clang-format on C and C++           .clang-format
  includes   allowed includes                    docs/design/architecture.md
  documents  links, shown code, settings         test/documents_check.py
  words      how sentences begin, names          test/words_check.py
  shell      shellcheck on shell scripts         .shellcheckrc
  python     flake8 on Python                    .flake8
  spelling   codespell on everything written     .codespellrc
  reference  Doxygen on the public headers       docs/Doxyfile
  aarch64    g++ for aarch64, syntax only        test/aarch64.sh
  tidy       clang-tidy on the product, minutes  .clang-tidy, compile_flags.txt; after a build
  tidy-rest  clang-tidy on tests and benchmarks  as tidy

One file:  clang-tidy membuf/pack.cc
EOT
}

# Prints the names of the files that match, each ended by a null character.
files() {  # FIND-TEST...
  find . \( -path './bazel-*' -o -path ./results -o -path ./build -o -path ./.git \) -prune -o -type f \( "$@" \) -print0
}

lint_format() {
  files -name '*.h' -o -name '*.hpp' -o -name '*.cc' -o -name '*.c' | xargs -0 clang-format --dry-run --Werror
}

lint_includes() { ./test/include_check.sh; }

lint_documents() { ./test/documents_check.py; }

lint_words() { ./test/words_check.py; }

lint_shell() {
  files -name '*.sh' -o -path ./.ci/run | xargs -0 shellcheck || return 1
  # A reader that ends early kills the writer before it, and pipefail then reports that nothing was found.
  if files -name '*.sh' -o -path ./.ci/run | xargs -0 grep -nE '[^|]\| *grep -[a-zA-Z]*q'; then
    echo "a pipe into grep -q: let grep -q read a file or <<<" >&2
    return 1
  fi
}

lint_python() { files -name '*.py' | xargs -0 flake8; }

lint_spelling() {
  files -name '*.md' -o -name '*.txt' -o -name '*.h' -o -name '*.hpp' -o -name '*.cc' -o -name '*.c' -o -name '*.f90' \
    -o -name '*.sh' -o -name '*.py' -o -name BUILD -o -name '*.bzl' | xargs -0 codespell
}

lint_aarch64() { ./test/aarch64.sh; }

lint_reference() { ./docs/build_reference.sh; }

clang_tidy() {
  # It also counts warnings in headers of other projects.
  xargs -0 -P "$(nproc)" -n 1 clang-tidy --quiet 2> >(grep -vE '^[0-9]+ warnings? (generated|treated as error)' >&2)
}

lint_tidy() { files -name '*.cc' ! -name '*_test.cc' ! -path './test/*' ! -path './bench/*' | clang_tidy; }

lint_tidy-rest() { files -name '*_test.cc' -o -path './test/*.cc' -o -path './bench/*.cc' | clang_tidy; }

all=(format includes documents words shell python spelling reference aarch64 tidy tidy-rest)
for name in "$@"; do
  case $name in
    --help) usage; exit 0 ;;
    *) [[ " ${all[*]} " == *" $name "* ]] || { echo "lint.sh: no linter $name" >&2; usage >&2; exit 2; } ;;
  esac
done
[[ $# -gt 0 ]] || set -- "${all[@]}"

cd "$(dirname "$0")/.."
broken=()
for name in "$@"; do
  "lint_$name" || broken+=("$name")
done
[[ ${#broken[@]} -eq 0 ]] || { echo "lint.sh: complaints by ${broken[*]}" >&2; exit 1; }
