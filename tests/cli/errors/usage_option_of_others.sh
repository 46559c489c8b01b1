for option in --gpus --tp --tensor-par --gbs --micro-batch-size --price --topp; do
    "$CALC" sweep llama3-8B h100_sxm "$option" 8
    echo "$?"
done
