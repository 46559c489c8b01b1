# What comes back, beside what went in.
D=$ROOT/tests/cli/export
for m in gpt3 llama3 deepseek moe; do
    echo "$m"
    procs=$(sed -n 's/.*"num_procs": \([0-9]*\),/\1/p' "$D/$m.exe.json")
    "$CALC" export --to nemo "$D/$m.app.json" "$D/$m.exe.json" 2>lost > run.txt || { echo refused; continue; }
    "$CALC" import --from nemo --procs "$procs" --app app.json --exe exe.json run.txt
    "$CALC" export --to json "$D/$m.app.json" "$D/$m.exe.json" > before.json
    "$CALC" export --to json app.json exe.json > after.json
    diff before.json after.json
done
