D=$ROOT/tests/cli/export
"$CALC" export --per-node 4 --out run.sh "$D/gpt3.app.json" "$D/gpt3.exe.json" && grep -A3 LAUNCH= run.sh && bash -n run.sh
