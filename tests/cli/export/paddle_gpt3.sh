D=$ROOT/tests/cli/export
"$CALC" export --to paddle "$D/gpt3.app.json" "$D/gpt3.exe.json"
