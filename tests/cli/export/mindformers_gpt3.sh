D=$ROOT/tests/cli/export
"$CALC" export --to mindformers "$D/gpt3.app.json" "$D/gpt3.exe.json"
