# exit 1
D=$ROOT/tests/cli/export
"$CALC" export --to nemo "$D/llama3.app.json" "$D/llama3.exe.json"
