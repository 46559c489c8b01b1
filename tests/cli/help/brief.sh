# The commands that calc alone suggests.
"$CALC" 2>&1 | sed -n 's/.*   *\(calc [a-z]* .*\)/\1/p' | sed 's/; or .*//' | while read -r _ arguments; do
    echo "$arguments"
    # shellcheck disable=SC2086
    "$CALC" $arguments >one.txt 2>/dev/null </dev/null || echo "status $?"
    test -s one.txt || echo 'prints nothing'
done
