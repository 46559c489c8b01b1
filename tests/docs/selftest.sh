#!/usr/bin/env bash
# run.sh accepts fixture/good.md and refuses each fixture/bad_*.md.
set -eu
unset CALC_UPDATE
cd "$(dirname "$0")/../.."
status=0
if ! printed=$(tests/docs/run.sh . . tests/docs/fixture/good.md) ||
    [ "$printed" != "7 commands run" ]; then
    echo "good.md: $printed"
    status=1
fi
for file in tests/docs/fixture/bad_*.md; do
    if printed=$(tests/docs/run.sh . . "$file"); then
        echo "$file: accepted; $printed"
        status=1
    elif [[ $printed != "$file:"* ]]; then
        echo "$file: the place is missing; $printed"
        status=1
    fi
done

# CALC_UPDATE=1: of a shortened block the lines most like those shown, whole blocks as they are printed.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# document FASTEST SECOND TOTAL: what a command of ten lines is shown to print
document()
{
    printf '%s\n' '```console' "$ printf '%s\\n' head '1  1/2/4  12.5 s' '2  2/2/2  13.5 s' middle '3  4/2/1  14.5 s' 'total 3'" \
        '...' "1  1/2/4  $1 s" "2  2/2/2  $2 s" '...' "total $3" '$ echo whole' "${4:-whole}" '```'
}
document 11.0 12.9 7 part > "$scratch/moved.md"
CALC_UPDATE=1 tests/docs/run.sh . "$scratch" moved.md > "$scratch/printed"
if ! diff "$scratch/moved.md" <(document 12.5 13.5 3); then
    status=1
fi
exit $status
