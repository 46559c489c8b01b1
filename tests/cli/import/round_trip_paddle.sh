# What comes back, beside what went in; the file says nothing of the model.
D=$ROOT/tests/cli/export
for m in gpt3 llama3 deepseek moe; do
    echo "$m"
    procs=$(sed -n 's/.*"num_procs": \([0-9]*\),/\1/p' "$D/$m.exe.json")
    "$CALC" export --to paddle "$D/$m.app.json" "$D/$m.exe.json" 2>lost > run.json || { echo refused; continue; }
    "$CALC" import --from paddle --procs "$procs" --exe exe.json run.json
    "$CALC" diff "$D/$m.exe.json" exe.json
done
