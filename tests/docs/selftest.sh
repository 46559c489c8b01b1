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
exit $status
