D=$ROOT/tests/cli/export
"$CALC" export --to mindspeed "$D/moe.app.json" "$D/moe.exe.json"
