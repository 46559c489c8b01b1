"$CALC" import --exe /dev/null -- --bf16 $(seq -f '--thing%g' 25)
"$CALC" import --exe /dev/null -- $(seq -f '--thing%g' 25)
echo $?
