#!/usr/bin/env bash
# The schemas of `calc show schema` beside every shipped file and broken ones, by the validator of
# Debian's python3-jsonschema.   usage: CALC=path/to/calc run.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
: "${CALC:?set CALC to the command under test}"
for python in /usr/bin/python3 python3; do
    if "$python" -c 'from jsonschema import Draft202012Validator' 2> /dev/null; then
        exec "$python" -B "$here/check_schema.py" "$CALC" "$here/../.."
    fi
done
echo "skipped: no python3-jsonschema"
exit 77
