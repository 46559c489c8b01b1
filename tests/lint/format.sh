#!/usr/bin/env bash
# The sources are as .clang-format says. Other versions than 14 break lines differently.
# usage: format.sh [ROOT]
set -eu
cd "${1:-.}"
format=$(command -v clang-format-14 || command -v clang-format || true)
if [ -z "$format" ] || ! "$format" --version | grep -q 'version 14\.'; then
    echo "skipped: no clang-format 14"
    exit 77
fi
find src sweep tests \( -name '*.[ch]' -o -name '*.cpp' \) ! -name '*.fields.h' | sort | xargs "$format" --style=file --dry-run -Werror
