D=$ROOT/tests/cli/export
"$CALC" export --to megatron-bridge "$D/gpt3.app.json" "$D/gpt3.exe.json"
