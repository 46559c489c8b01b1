D=$ROOT/tests/cli/export
"$CALC" export --to megatron-bridge "$D/moe.app.json" "$D/moe.exe.json"
