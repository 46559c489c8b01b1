for kind in app sys exe stats layer stage; do
    rows=$("$CALC" show fields $kind --markdown | grep -c '^| `')
    lines=$("$CALC" show fields $kind | grep -c '^  [a-z]')
    echo "$kind: $((rows == lines && rows > 0))"
done
