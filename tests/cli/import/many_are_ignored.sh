"$CALC" import --exe /dev/null -- $(seq -f '--thing%g' 25)
