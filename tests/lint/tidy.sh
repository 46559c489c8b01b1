#!/usr/bin/env bash
# clang-tidy finds nothing in src and sweep (.clang-tidy says what it looks for).   usage: tidy.sh BUILD [ROOT]
set -eu
build=$(cd "$1" && pwd)
cd "${2:-.}"
if ! command -v clang-tidy > /dev/null; then
    echo "skipped: no clang-tidy"
    exit 77
fi
# The analyzer learns from assertions, and clang has no name for gcc's ways to copy.
commands=$(mktemp -d)
trap 'rm -rf "$commands"' EXIT
sed -E 's/ (-m(memset|memcpy)-strategy=[^ ]*|-DNDEBUG)//g' "$build/compile_commands.json" > "$commands/compile_commands.json"
# One file per process: clang-tidy 14 takes va_lists of a second file for uninitialised ones.
# A third of the analyzer's usual paths through a function: the time is in proportion to them.
# Clang does not know all of gcc's warnings. Without MPI nothing reads its header. What only the pages'
# module has is compiled by rules of its own: the folder of sweeps is named for it.
find src sweep -name '*.c' ! -name ranks_mpi.c | sort | xargs -n 1 -P "$(nproc)" \
    clang-tidy -p "$commands" --quiet --extra-arg=-Wno-unknown-warning-option "--extra-arg=-I$PWD/sweep" --extra-arg=-Xclang \
    --extra-arg=-analyzer-config --extra-arg=-Xclang --extra-arg=max-nodes=75000 2> /dev/null
