# The strategy files of the reference cases, to the byte but for the key that training reads, and for one tie.
for folder in "$ROOT"/tests/galvatron/[0-9]*; do
    name=$(basename "$folder")
    "$CALC" as galvatron search "$folder/args.json" --compat --output_config_path out >said || echo "$name: $?"
    theirs=$(find "$folder" -name 'galvatron_config_*')
    if [[ -z $theirs ]]; then
        echo "$name: $(head -n 1 said) $(find out -type f 2>/dev/null | wc -l) files"
        continue
    fi
    ours="out/$(basename "$theirs")"
    sed -e '/"vocab_sdp"/d' -e '/"embed_sdp"/s/,$//' "$ours" | diff "$theirs" - >differences && echo "$name: equal" || echo "$name: other"
    cat differences
    rm -r out
done
