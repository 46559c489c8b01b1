#!/usr/bin/env bash
# Each function that a row of statistics names (.where = "...") exists.   usage: where.sh LIBRARY [ROOT]
set -eu
library=$1
cd "${2:-.}"
defined=$(nm --defined-only --format=posix "$library" 2> /dev/null | awk '$2 ~ /[Tt]/ { print $1 }')
# Functions that are always inlined leave no symbol: their definition in a header counts.
defined+=$'\n'$(grep -hi -A 1 'inline' src/*/*.h src/*/*/*.h | grep -oE 'calc_[a-z0-9_]+\(' | tr -d '(')
status=0
while read -r name; do
    if ! grep -qx "$name" <<< "$defined"; then
        echo "src/calc: .where = \"$name\" names no function of the library"
        status=1
    fi
done < <(grep -oh '\.where = "[^"]*"' src/calc/*.fields.h | cut -d'"' -f2 | sort -u)
exit $status
