# exit 1
folder="$ROOT/tests/galvatron"
for case in "$folder"/02* "$folder"/15* "$folder"/20*; do
    "$CALC" import "$case"/galvatron_config* --exe layout.json 2>/dev/null
    "$CALC" export --to galvatron llama2-7B layout.json | sed -e '/"vocab_sdp"/d' -e '/"embed_sdp"/s/,$//' |
        cmp - "$case"/galvatron_config* && echo "$(basename "$case"): equal"
done
"$CALC" export --to galvatron llama3-70B llama3-70B_512
"$CALC" export --to galvatron --keys
"$CALC" export --to galvatron gpt3-175B gpt3-175B_512
