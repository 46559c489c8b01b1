D=$ROOT/tests/cli/export
"$CALC" export --to torchtitan "$D/llama3.app.json" "$D/fsdp.exe.json"
