#!/usr/bin/env bash
# What the object files export and import.   usage: symbols.sh BUILD [ROOT]
#   - An external symbol starts with calc_ and is declared in calc.h or in the header of its file; a
#     file without a header of its own may use one of its layer.
#   - The model computes only: it imports mathematics, memory and text functions, nothing that
#     allocates, reads, writes or ends the program.
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
allowed_in_model+='|(ceil|floor|fmin|fmax|fabs|log2?|exp2?|pow|sqrt|round|trunc|fmod)'
allowed_in_model+='|__assert_fail|__stack_chk_fail|_GLOBAL_OFFSET_TABLE_)$'

# check SOURCE OBJECT
check()
{
    local source=$1 object=$2 layer
    layer=${source#src/} layer=${layer%%/*}
    headers=(src/calc.h)
    if [ -e "${source%.c}.h" ]; then
        headers+=("${source%.c}.h")
    else
        mapfile -t -O 1 headers < <(find "${source%%"$layer"/*}$layer" -name '*.h' | sort)
    fi
    while read -r symbol; do
        if [ "$symbol" = main ]; then
            [ "$source" = src/cli/shell/main.c ] || complain "$source" "exports main"
        elif [[ $symbol != calc_* ]]; then
            complain "$source" "exports $symbol, which does not start with calc_"
        elif ! grep -qw "$symbol" "${headers[@]}"; then
            complain "$source" "exports $symbol, which ${headers[*]} does not declare"
        fi
    done < <(nm --defined-only --extern-only --format=posix "$object" | cut -d' ' -f1)
    while read -r symbol; do
        complain "$source" "$symbol is a global variable"
    done < <(objdump --syms "$object" | grep -E ' O (\.t?data|\.t?bss|\*COM\*)' |
        grep -v ' \.data\.rel\.ro' | awk '{ print $NF }')
    if [ "$layer" = model ]; then
        while read -r symbol; do
            complain "$source" "imports $symbol, which is not among what the model may use"
        done < <(nm --undefined-only --format=posix "$object" | cut -d' ' -f1 |
            grep -vE "$allowed_in_model" || true)
    fi
}

# Of the two ranks_*.c one is compiled.
for source in src/*/*.c src/*/*/*.c sweep/*.c; do
    if [ ! -e "$source" ] || [[ $source == sweep/ranks_*.c ]]; then
        continue
    fi
    top=${source%%/*}
    found=
    [[ $source == sweep/ranks_*.c ]] && found=maybe
    for object in "$build/$top"/CMakeFiles/*.dir/"${source#*/}.o"; do
        [ -e "$object" ] || continue
        found=yes
        check "$source" "$object"
    done
    [ -n "$found" ] || complain "$source" "is not compiled; $top/CMakeLists.txt lists the sources"
done
exit $status
