# exit 3
# What a run left behind is no layout and no table of runs; the command that reads it is said. Settings that are wrong stay what they are.
for log in megatron.log titan.log nemo.log wandb.csv vllm.json aiperf.json; do
    "$CALC" import "$ROOT/tests/formats/logs/$log" 2>&1
    "$CALC" validate "$ROOT/tests/formats/logs/$log" 2>&1
    "$CALC" why "$ROOT/tests/formats/logs/$log" h100_sxm 2>&1
done | sed 's/.*logs.//' | sort | uniq -c
echo 'torchrun pretrain_gpt.py --num-layers eight' > wrong.sh
"$CALC" import wrong.sh 2>&1
printf 'name,app,sys,exe,measured\n' > wrong.csv
"$CALC" validate wrong.csv 2>&1
