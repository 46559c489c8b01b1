#!/usr/bin/env bash
# What zsh offers for the lines of `offers`, with the last word unfinished.
# usage: CALC=path/to/calc zsh.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
: "${CALC:?set CALC to the command under test}"
if ! command -v zsh > /dev/null; then
    echo "skipped: no zsh"
    exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
touch here.json
export CALC_PATH=$here/../..
PATH=$(dirname "$CALC"):$PATH
"$CALC" help --completion zsh > _calc
# compadd and _files as the completion system has them, printing what they are given.
cat > offer.zsh << 'END'
compdef() { :; }
compadd() { shift; print -l -- $@; }
_files() { print -l -- *(N); }
source ./_calc
while IFS='|' read -r line want; do
    words=(${=line})
    CURRENT=$#words
    print -r -- "$line|$(_calc | grep -E "^${words[CURRENT]}" | sort | tr '\n' ' ' | sed 's/ $//')"
done < $1
END
zsh -f offer.zsh "$here/offers" > found
diff -u "$here/offers" found
