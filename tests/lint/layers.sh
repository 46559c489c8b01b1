#!/usr/bin/env bash
# Who may include whom: a file of a layer includes only its own layer and lower ones, by full name.
# jansson and zlib have one door, src/io.   usage: layers.sh [ROOT]
set -eu
cd "${1:-.}/src"

declare -A allowed=(
    [base]="base"
    [spec]="base spec"
    [model]="base spec model"
    [io]="base spec io"
    [cli]="base spec model io cli"
)
status=0

complain()
{
    echo "src/$1: $2"
    status=1
}

for file in */*.c */*.h; do
    layer=${file%%/*}
    [ "$layer" = calc ] && continue
    if [ -z "${allowed[$layer]:-}" ]; then
        complain "$file" "the layer $layer is not in tests/lint/layers.sh"
        continue
    fi
    while IFS=: read -r line included; do
        case $included in
        calc.h | calc/*) continue ;;
        */*) from=${included%%/*} ;;
        *) from= ;;
        esac
        if [ -z "$from" ]; then
            complain "$file:$line" "\"$included\" lacks its layer"
        elif [[ " ${allowed[$layer]} " != *" $from "* ]]; then
            complain "$file:$line" "$layer must not include \"$included\""
        fi
    done < <(sed -nE '/^[[:space:]]*#[[:space:]]*include[[:space:]]*"/{=;s/[^"]*"([^"]*)".*/\1/p}' \
        "$file" | paste -d: - -)
    if [ "$layer" != io ] && grep -nE '#[[:space:]]*include[[:space:]]*<(jansson|zlib)' "$file"; then
        complain "$file" "jansson and zlib are for src/io"
    fi
done
exit $status
