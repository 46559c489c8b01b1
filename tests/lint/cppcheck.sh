#!/usr/bin/env bash
# cppcheck finds nothing.   usage: cppcheck.sh [ROOT]
set -eu
cd "${1:-.}"
if ! command -v cppcheck > /dev/null; then
    echo "skipped: no cppcheck"
    exit 77
fi
# uninitvar: false alarms on arrays that loops fill; compilers and sanitizers look for these. invalidPrintfArgType_sint: %jd is that of
# int64_t, which is intmax_t with glibc; both compilers check formats.
cppcheck --quiet --std=c11 --language=c --enable=warning,performance,portability --suppress=uninitvar --suppress=invalidPrintfArgType_sint \
    --error-exitcode=1 -j "$(nproc)" -D_XOPEN_SOURCE=700 -I src -I sweep src sweep
