"$CALC" import --procs many -- --bf16
