#!/bin/bash
# Checks the includes of every room against docs/design/architecture.md: its table lists what a room may include, and
# nothing that no file of the room includes; its picture the dependencies of whole folders, and its last paragraph the
# places of system headers.
set -euo pipefail
cd "$(dirname "$0")/.."
page=docs/design/architecture.md
tops=(membuf transport patterns windows include *_shim)
broken=0

complain() {
  echo "$1"
  broken=1
}

declare -A may drawn listed used
while IFS='|' read -r _ room _ includes _; do
  room=${room//[\` ]/}
  may[$room]=" ${includes//\`/} "
done < <(grep -E '^\| `(membuf|transport|patterns|windows|include|[a-z]+_shim)[a-z_./]*` \|' "$page")

while read -r from to; do drawn[$from,$to]=1; done < <(sed -nE 's/^  ([a-z_]+) --> ([a-z_]+)$/\1 \2/p' "$page")

# Everything may include itself; bench, tools, test and examples may include all.
check_file() {  # FILE
  local file=$1 room row header target allowed
  room=$(dirname "$file")
  room=${room%/fuzz}
  row=$room
  [[ -z ${may[$file]+known} ]] || row=$file
  allowed=${may[$row]-}
  [[ -n ${may[$row]+known} ]] || complain "$file: $page has no room $room"
  while read -r header; do
    case $header in
      brigade/*) header=include/$header ;;
      ../*) header=$(dirname "$room")/${header#../} ;;
    esac
    target=$(dirname "$header")
    # Thresholds of the same folder, or of one below.
    [[ $header == */rules.h && (${header%%/*} == "${room%%/*}" || -n ${drawn[${room%%/*},${header%%/*}]-}) ]] && continue
    used["$row $target"]=1
    used["$row $header"]=1
    [[ $target == "$room" || $allowed == *" $target "* || $allowed == *" $header "* ]] ||
      complain "$file includes $header, which $room may not"
  done < <(sed -nE 's,^[[:space:]]*#[[:space:]]*include "((\.\.|membuf|transport|patterns|windows|brigade|[a-z]+_shim|bench)/[^"]+)".*,\1,p' "$file")
}

for top in "${tops[@]}"; do
  [[ ! -d $top ]] || while read -r file; do check_file "$file"; done < <(
    find "$top" -name '*.h' -o -name '*.hpp' -o -name '*.cc' -o -name '*.c' | grep -v '_test\.')
done

# Headers may be for tests.
while read -r file; do complain "$file includes a header of the tests or tools"; done < <(
  grep -rlE '#[[:space:]]*include "(bench|tools|test|examples)/' --include='*.cc' --include='*.c' --exclude='*_test.*' \
    "${tops[@]}" || true)

corner() {  # HEADER ROOM...: the header is included nowhere else.
  local header=$1 file
  shift
  while read -r file; do
    [[ " $* " == *" $file "* || " $* " == *" $(dirname "$file") "* ]] || complain "$file includes <$header>"
  done < <(grep -rlE "#[[:space:]]*include [<\"]$header" "${tops[@]}" || true)
}
paragraph=$(sed -n '/^System headers/,$p' "$page" | tr '\n' ' ')
while IFS=: read -r header places; do
  # shellcheck disable=SC2046 # a list of words
  corner "$header" $(grep -oE '`[a-z_./]+`' <<<"$places" | tr -d '\`')
done < <(tr ';:' '\n' <<<"$paragraph" | sed -nE 's/.*`<([a-z.]+)>` in (.*)/\1:\2/p')

for room in "${!may[@]}"; do
  for target in ${may[$room]}; do
    [[ $target == */rules.h || -n ${used["$room $target"]-} ]] || complain "$page: no file of $room includes $target"
  done
done

# The picture: as the table, folder by folder.
for room in "${!may[@]}"; do
  for target in ${may[$room]}; do
    [[ ${room%%/*} == "${target%%/*}" ]] || listed[${room%%/*},${target%%/*}]=1
  done
done
for arrow in "${!drawn[@]}" "${!listed[@]}"; do
  [[ -n ${drawn[$arrow]-} && -n ${listed[$arrow]-} ]] || complain "$page: picture and table differ in ${arrow/,/ --> }"
done
[[ ${#drawn[@]} -gt 0 && ${#may[@]} -gt 10 ]] || complain "$page: no table, or no picture"
exit $broken
