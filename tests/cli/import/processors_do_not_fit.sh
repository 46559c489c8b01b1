# exit 3
"$CALC" import -- --tensor-model-parallel-size 8 --nnodes 3 --nproc-per-node 4
