# exit 3
"$CALC" import -- --pipeline-model-parallel-size 4 --num-layers 30 --num-layers-per-virtual-pipeline-stage 2
