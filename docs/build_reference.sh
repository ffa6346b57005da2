#!/bin/bash
# Builds the API reference from the public headers and prints its path. Warnings are errors.
#   docs/build_reference.sh [DIRECTORY]     default: results/reference
set -euo pipefail
cd "$(dirname "$0")/.."
output=${1:-results/reference}
mkdir -p "$output"
{
  cat docs/Doxyfile
  echo "OUTPUT_DIRECTORY = $output"
  echo "PROJECT_NUMBER = $(sed -nE 's/.*BRIGADE_VERSION "(.*)".*/\1/p' membuf/version.h)"
} | doxygen -
echo "$output/html/index.html"
