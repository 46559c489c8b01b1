# exit 3
printf 'model:\n  tensor_model_parallel_size: many\n  hidden_size: 1.5\n' > n.yaml
"$CALC" import --from nemo n.yaml
