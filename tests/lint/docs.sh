#!/usr/bin/env bash
# Tables in the documentation are what the command prints: between
#   <!-- fields: calc show fields app --markdown -->   and   <!-- /fields -->
# With CALC_UPDATE=1 they are rewritten.   usage: docs.sh BIN [ROOT]   (BIN: folder of the command)
set -eu
PATH=$(cd "$1" && pwd):$PATH
cd "${2:-.}"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
status=0

refreshed()
{
    local line command
    while IFS= read -r line; do
        printf '%s\n' "$line"
        case $line in
        '<!-- fields: calc '*' -->')
            command=${line#<!-- fields: }
            command=${command% -->}
            echo
            # shellcheck disable=SC2086
            $command < /dev/null || return 1
            echo
            while [ "$line" != '<!-- /fields -->' ]; do
                IFS= read -r line || return 1
            done
            printf '%s\n' "$line"
            ;;
        esac
    done
}

while read -r file; do
    if ! refreshed < "$file" > "$scratch/new"; then
        echo "$file: a command of its markers fails, or a marker has no end"
        status=1
    elif cmp -s "$file" "$scratch/new"; then
        continue
    elif [ "${CALC_UPDATE:-}" = 1 ]; then
        cat "$scratch/new" > "$file"
        echo "$file: rewritten"
    else
        diff -u "$file" "$scratch/new" || true
        echo "$file: not what the command prints; CALC_UPDATE=1 $0 rewrites it"
        status=1
    fi
done < <(find . -name '*.md' ! -path './build*' ! -path './.git/*' | sort | xargs grep -l '^<!-- fields: ')
exit $status
