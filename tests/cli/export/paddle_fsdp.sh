D=$ROOT/tests/cli/export
"$CALC" export --to paddle "$D/llama3.app.json" "$D/fsdp.exe.json"
