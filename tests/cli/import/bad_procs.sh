# exit 2
"$CALC" import --procs many -- --bf16
