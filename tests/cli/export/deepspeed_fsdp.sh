D=$ROOT/tests/cli/export
"$CALC" export --to deepspeed "$D/llama3.app.json" "$D/fsdp.exe.json"
