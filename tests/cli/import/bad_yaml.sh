# exit 3
printf 'model:\n  hidden_size: 8192\n num_layers: 4\n' > n.yaml
"$CALC" import --from nemo n.yaml
