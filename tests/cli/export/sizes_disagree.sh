# exit 3
D=$ROOT/tests/cli/export
sed 's/"batch_size": 512/"batch_size": 500/' "$D/gpt3.exe.json" > run.json
"$CALC" export "$D/gpt3.app.json" run.json
