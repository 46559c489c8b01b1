# exit 1
D=$ROOT/tests/cli/export
"$CALC" export --to deepspeed "$D/gpt3.app.json" "$D/gpt3.exe.json"
