#!/usr/bin/env bash
# Commands shown in the documentation work. In blocks ```console, each line `$ COMMAND` is run from
# the root of a scratch copy of the project, with the built calc first in PATH. The lines below it,
# if there are any, are what it prints (stdout and stderr); a line `...` stands for any lines. A
# command without such lines must succeed. CALC_UPDATE=1 writes what is printed into the file instead:
# all lines, or those most like the ones shown.   usage: run.sh BIN ROOT FILE...
set -eu
bin=$(cd "$1" && pwd)
root=$(cd "$2" && pwd)
shorten=$(cd "$(dirname "$0")" && pwd)/shorten.py
shift 2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
commands=0
status=0

mkdir "$scratch/copy"
tar -C "$root" --exclude='./build*' --exclude=./.git -cf - . | tar -C "$scratch/copy" -xf -
cd "$scratch/copy"

# check PLACE COMMAND PATTERN: run one command
check()
{
    local code=0 printed
    commands=$((commands + 1))
    PATH=$bin:$PATH bash -c "$2" > "$scratch/printed" 2>&1 < /dev/null || code=$?
    printed=$(cat "$scratch/printed" && echo x)
    printed=${printed%x}
    # shellcheck disable=SC2053
    if [ -z "$3" ] && [ "$code" = 0 ]; then
        return
    elif [ -n "$3" ] && [[ $printed == $3 ]]; then
        return
    fi
    if [ -n "${CALC_UPDATE:-}" ] && [ -n "$3" ]; then
        printf '%s' "$shown" > "$scratch/shown"
        python3 "$shorten" "$scratch/printed" "$scratch/shown" > "$scratch/new/${1##*:}"
        return
    fi
    echo "$1: \$ $2"
    echo "exit status $code, printed:"
    sed 's/^/    /' "$scratch/printed"
    status=1
}

# update FILE: replace the lines below commands by what those printed
update()
{
    awk -v new="$scratch/new" '
        skipping && (/^\$ / || /^```$/) { skipping = 0 }
        skipping { next }
        { print }
        /^\$ / { printed = new "/" NR; command = 1 }
        command && !/\\$/ {
            command = 0
            while ((getline line < printed) > 0) { print line; skipping = 1 }
        }
    ' "$1" > "$scratch/updated"
    cat "$scratch/updated" > "$1"
}

for file in "$@"; do
    rm -rf "$scratch/new"
    mkdir "$scratch/new"
    inside=
    command=
    number=0
    while IFS= read -r line || [ -n "$line" ]; do
        number=$((number + 1))
        case $inside$line in
        '```console') inside=yes ;;
        'yes```'* | 'yes$ '*)
            [ -z "$command" ] || check "$file:$place" "$command" "$pattern"
            command=
            if [ "$line" = '```' ]; then
                inside=
            else
                command=${line#\$ }
                place=$number
                pattern=
                shown=
            fi
            ;;
        'yes...')
            pattern+=$'?(*\n)'
            shown+=$line$'\n'
            ;;
        yes*)
            if [ -n "$command" ] && [ -z "$pattern" ] && [[ $command == *\\ ]]; then
                command=${command%\\}$line
            else
                pattern+=$(printf '%s' "$line" | sed 's/[][\\*?+@!()|]/\\&/g')$'\n'
                shown+=$line$'\n'
            fi
            ;;
        esac
    done < "$root/$file"
    [ -z "$(ls "$scratch/new")" ] || update "$root/$file"
    if [ -n "$inside" ]; then
        echo "$file: a block has no end"
        status=1
    fi
done
echo "$commands commands run"
exit $status
