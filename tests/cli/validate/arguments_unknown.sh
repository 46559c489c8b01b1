# exit 3
# An option that Megatron-LM does not have is an error of its row, with its place; one that calc knows and does not read is none.
row() { printf 'name,app,sys,exe,arguments,procs,measured_s\na,llama2-7B,h100_sxm,,%s --micro-batch-size 1 --global-batch-size 64 --bf16,8,3.3\n' "$1"; }
row '--tensor-model-parallel-size 2 --log-interval 5' > known.csv
"$CALC" validate known.csv | grep -c '^h100_sxm'
row '--tensor-model-parallel-siz 2 --sequence-paralel --nonsense 9' > unknown.csv
"$CALC" calibrate unknown.csv --system h100_sxm 2>&1
"$CALC" validate unknown.csv
