# names that people give a machine; those of every file mean that file
for name in h100 H100-SXM "RTX 4090" gb200 a100-40gb v100 mi300 a6000; do
    "$CALC" run llama3-8B "$name" llama3-8B_8 | head -1
done
for file in "$ROOT"/systems/*.json; do
    own=$(basename "$file" .json)
    for name in $(sed -n 's/^  "names": "\(.*\)",$/\1/p' "$file"); do
        "$CALC" run llama3-8B "$name" llama3-8B_8 2> said > out
        grep -qx "$name: taken as the machine $own" said || echo "$name is not $own"
    done
done
