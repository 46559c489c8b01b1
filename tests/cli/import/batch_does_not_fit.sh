# exit 3
"$CALC" import --procs 24 -- --tensor-model-parallel-size 8 --global-batch-size 10
