# Layouts of models that list their layers are what calc run computes of them
for model in nemotron-3-super-120B-A12B qwen3-next-80B-A3B; do
    "$CALC" sweep "$model" h200 --procs 64 --batch 256 --verify 1 --top 1 > /dev/null || exit 1
    echo "$model"
done
