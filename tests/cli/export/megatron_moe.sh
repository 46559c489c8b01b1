D=$ROOT/tests/cli/export
"$CALC" export --to megatron "$D/moe.app.json" "$D/moe.exe.json"
