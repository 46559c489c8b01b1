# Measured operators that no run can look up.
gzip -dc "$ROOT/tests/measured/runs_vtrain_single.csv.gz" | head -3 > runs.csv
try() { "$CALC" validate runs.csv --worst 0 --operators "$1" | grep -c '^vTrain, one node (A100)' >&2; echo "status ${PIPESTATUS[0]}" >&2; }
rows() { printf 'system,op,dtype,shape,metric,value,unit\n%s\n' "$1"; }
sizes='seq_size=1024 hidden=1024 feedforward=4096 attn_heads=16 microbatch_size=8'
try missing.csv
rows "vtrain_a100,block,fp16,$sizes,time,fast,ms" > value.csv
rows "h100_sxm,block,fp16,$sizes,time,9,ms" > machine.csv
rows "vtrain_a100,block,fp16,$sizes activation_recompute=all,time,9,ms" > word.csv
rows "vtrain_a100,block,fp16,$sizes tensor_par=3,time,9,ms" > rule.csv
rows "vtrain_a100,block,fp16,$sizes,time,9,ms
vtrain_a100,block,fp16,$sizes tensr_par=2,time,9,ms" > one.csv
for file in value machine word rule one; do
    try $file.csv
done
"$CALC" validate serving_runs --operators one.csv > /dev/null
echo "status $?" >&2
