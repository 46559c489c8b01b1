#!/bin/sh
# Writes all models and machines as one JSON object of two, {"app": {NAME: ...}, "sys": {...}}: gzip in base64.
# usage: catalogue.sh ROOT OUT
set -eu
LC_ALL=C
export LC_ALL

put()
{
    comma=
    printf '"%s":{' "$1"
    for file in "$2"/*.json; do
        name=${file##*/}
        printf '%s"%s":' "$comma" "${name%.json}"
        cat "$file"
        comma=,
    done
    printf '}'
}

{
    printf '{'
    put app "$1/models"
    printf ','
    put sys "$1/systems"
    printf '}'
} | gzip -9n | base64 -w0 > "$2"
