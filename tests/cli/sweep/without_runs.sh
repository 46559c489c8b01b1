# exit 0
# A command away from its data says that it judges without measured runs; a tree of sources has them.
cp "$CALC" calc
mkdir data
for folder in models systems executions; do ln -s "$ROOT/$folder" data/; done
for path in "$PWD/data" "$ROOT"; do
    CALC_PATH=$path ./calc sweep llama3-8B h100_sxm --procs 16 --batch 64 --top 1 --threads 1 --progress none > out
    grep 'Start with' out
done
