#!/usr/bin/env bash
# What fish offers for the lines of `offers`, with the last word unfinished.
# usage: CALC=path/to/calc fish.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
: "${CALC:?set CALC to the command under test}"
if ! command -v fish > /dev/null; then
    echo "skipped: no fish"
    exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
touch here.json
export HOME=$scratch XDG_CONFIG_HOME=$scratch/config CALC_PATH=$here/../..
PATH=$(dirname "$CALC"):$PATH
"$CALC" help --completion fish > calc.fish
while IFS='|' read -r line _; do
    # fish also offers what contains the word; only what starts with it is compared.
    # shellcheck disable=SC2016
    found=$(fish --no-config -c 'source calc.fish; complete -C $argv[1]' -- "$line" | cut -f1 |
        grep -E "^${line##* }" | sort -u | tr '\n' ' ' | sed 's/ $//')
    echo "$line|$found"
done < "$here/offers" > found
diff -u "$here/offers" found
