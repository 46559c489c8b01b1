# What comes back, beside what went in; the file says nothing of the model.
E=$ROOT/executions
for m in llama3-8B_128_fsdp llama3-8B_8; do
    echo "$m"
    procs=$(sed -n 's/.*"num_procs": \([0-9]*\),/\1/p' "$E/$m.json")
    "$CALC" export --to deepspeed llama3-8B "$m" 2>lost > run.file &&
        "$CALC" import --from deepspeed --procs "$procs" --exe exe.json run.file || { cat lost; continue; }
    "$CALC" diff "$m" exe.json
done
