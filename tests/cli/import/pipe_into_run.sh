D=$ROOT/tests/cli/export
"$CALC" export --to megatron "$D/gpt3.app.json" "$D/gpt3.exe.json" | "$CALC" import --from megatron - |
    "$CALC" run gpt3-175B a100_80g - --csv - | cut -d, -f1-8
