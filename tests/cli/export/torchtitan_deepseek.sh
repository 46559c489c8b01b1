# exit 1
D=$ROOT/tests/cli/export
"$CALC" export --to torchtitan "$D/deepseek.app.json" "$D/deepseek.exe.json"
