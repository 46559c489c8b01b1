D=$ROOT/tests/cli/export
"$CALC" export --to megatron "$D/llama3.app.json" "$D/llama3.exe.json"
