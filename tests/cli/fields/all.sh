"$CALC" show fields | grep -E -A 1 '^[a-z]+:'
