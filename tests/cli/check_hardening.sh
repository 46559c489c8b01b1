#!/usr/bin/env bash
# An optimized build limits the harm of a mistake with memory: addresses that differ from run to run, tables of the linker that
# nobody can write, checked calls of the C library, guarded returns.
#   CALC=path/to/calc tests/cli/check_hardening.sh
set -eu
: "${CALC:?set CALC to the command under test}"
command -v readelf > /dev/null || exit 77

# must WHAT PATTERN READELF-OPTION...
must()
{
    local what=$1 pattern=$2
    shift 2
    if ! readelf -W "$@" "$CALC" | grep -Eq "$pattern"; then
        echo "$CALC: $what"
        exit 1
    fi
}
must "no position-independent executable" 'Type: +DYN' -h
must "no RELRO segment" 'GNU_RELRO' -l
must "RELRO is partial: no BIND_NOW" 'BIND_NOW|Flags:.* NOW' -d
must "the stack is executable" 'GNU_STACK .* RW +' -l
must "no stack protector" '__stack_chk_fail' --dyn-syms
must "no fortified call" '__v?snprintf_chk|__memcpy_chk' --dyn-syms
echo "$CALC is hardened"
