#!/usr/bin/env bash
# Files stay small: above 400 lines is a question in review, above 900 is a failure.
# usage: length.sh [ROOT]
set -eu
cd "${1:-.}"
find src sweep -name '*.[ch]' -exec wc -l {} \; | sort -rn | awk '
    $1 > 900 { print $2 ": " $1 " lines, more than 900"; failed = 1; next }
    $1 > 400 { print $2 ": " $1 " lines, more than 400 (allowed)" }
    END { exit failed }'
