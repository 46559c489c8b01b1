# exit 3
printf 'model:\n  just words\n' > n.yaml
"$CALC" import --from nemo n.yaml
