# The space, in both forms; all rows have as many cells as the first.
"$CALC" as mindspeed "$ROOT/tests/mindspeed/llama_7b.launch" --vocab-size 32000 --list 2>/dev/null >space.csv
head -4 space.csv
grep -c , space.csv
awk -F, '{print NF}' space.csv | sort -u
for generation in 1 2; do
    "$CALC" as mindspeed "$ROOT/tests/mindspeed/llama_7b.launch" --seq-length 8192 --generation $generation --list \
        --format json 2>/dev/null |
        python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["configurations"], len(d["space"]), d["fit"])'
done
