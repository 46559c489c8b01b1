#!/usr/bin/env bash
# Each header compiles alone; the public one also as C++17.   usage: headers.sh [ROOT]
set -eu
cd "${1:-.}"
CC=${CC:-cc}
CXX=${CXX:-c++}
status=0
warnings="-Wall -Wextra -Wpedantic -Werror -fsyntax-only -D_XOPEN_SOURCE=700 -Isrc -Isweep"
while read -r header; do
    # shellcheck disable=SC2086
    if ! echo "#include \"${header#*/}\"" | "$CC" -std=c17 $warnings -x c -; then
        echo "$header: does not compile alone"
        status=1
    fi
done < <(find src sweep -name '*.h' ! -name '*.fields.h' | sort)
if command -v "$CXX" > /dev/null; then
    # shellcheck disable=SC2086
    echo '#include "calc.h"' | "$CXX" -std=c++17 $warnings -x c++ - || status=1
fi
exit $status
