#!/usr/bin/env bash
# What the object files export and import.   usage: symbols.sh BUILD [ROOT]
#   - An external symbol starts with calc_ and is declared in calc.h or in the header of its file; a
#     file without a header of its own may use one of its layer.
#   - The model computes only: it imports mathematics, memory and text functions, nothing that
#     allocates, reads, writes or ends the program.
#   - A list is sorted by CALC_SORT(), which may be given none: qsort() may not be given NULL.
#   - Nothing has global variables: no object file has writable data.
set -eu
build=$(cd "$1" && pwd)
cd "${2:-.}"
status=0

complain()
{
    echo "$1: $2"
    status=1
}

allowed_in_model='^(calc_.*|mem(cpy|set|cmp|move)|str(cmp|len|ncmp|cpy|chr)|v?snprintf'
allowed_in_model+='|(ceil|floor|fmin|fmax|fabs|log2?|exp2?|pow|sqrt|round|trunc|fmod|cbrt|erfc|frexp|ldexp)'
allowed_in_model+='|__assert_fail|__stack_chk_fail|__(mem(cpy|set|move)|v?snprintf)_chk|_GLOBAL_OFFSET_TABLE_)$'

# Objects, each with its source and the headers that may declare what it exports. Programs are run
# once for all of them. Of the two ranks_*.c one is compiled.
declare -A source_of headers_of
for source in src/*/*.c src/*/*/*.c sweep/*.c; do
    if [ ! -e "$source" ] || [[ $source == sweep/ranks_*.c || $source == src/wasm/* ]]; then
        continue
    fi
    top=${source%%/*} layer=${source#src/} layer=${layer%%/*}
    headers="src/calc.h ${source%.c}.h"
    if [ ! -e "${source%.c}.h" ]; then
        [ -n "${headers_of[$layer]:-}" ] ||
            headers_of[$layer]=$(find "${source%%"$layer"/*}$layer" -name '*.h' | sort | tr '\n' ' ')
        headers="src/calc.h ${headers_of[$layer]% }"
    fi
    found=
    for object in "$build/$top"/CMakeFiles/*.dir/"${source#*/}.o"; do
        [ -e "$object" ] || continue
        found=yes
        source_of[$object]="$source|$headers"
    done
    [ -n "$found" ] || complain "$source" "is not compiled; $top/CMakeLists.txt lists the sources"
done

# What exported, imported and variable symbols there are: "E|I|V symbol source|headers"
symbols()
{
    nm -A --extern-only --format=posix "${!source_of[@]}" |
        awk '{ sub(/:$/, "", $1); print ($3 == "U" || $3 == "w" ? "I" : "E"), $2, $1 }'
    objdump --syms "${!source_of[@]}" |
        awk '/file format/ { sub(/:$/, "", $1); object = $1 }
            / O (\.t?data|\.t?bss|\*COM\*)/ && !/ \.data\.rel\.ro/ { print "V", $NF, object }'
}

declare -A words
while read -r kind symbol object; do
    IFS='|' read -r source headers <<< "${source_of[$object]}"
    case $kind in
    V) complain "$source" "$symbol is a global variable" ;;
    I)
        [[ $source != src/model/* || $symbol =~ $allowed_in_model ]] ||
            complain "$source" "imports $symbol, which is not among what the model may use"
        [[ $symbol != qsort || $source = src/base/* ]] ||
            complain "$source" "imports qsort, which no empty list may reach: CALC_SORT() may sort it"
        ;;
    E)
        if [ "$symbol" = main ]; then
            [ "$source" = src/cli/shell/main.c ] || complain "$source" "exports main"
        elif [[ $symbol != calc_* ]]; then
            complain "$source" "exports $symbol, which does not start with calc_"
        else
            # shellcheck disable=SC2086
            [ -n "${words[$headers]:-}" ] ||
                words[$headers]=" $(grep -ohE '\bcalc_\w+' $headers | sort -u | tr '\n' ' ')"
            [[ ${words[$headers]} == *" $symbol "* ]] ||
                complain "$source" "exports $symbol, which $headers does not declare"
        fi
        ;;
    esac
done < <(symbols)
exit $status
