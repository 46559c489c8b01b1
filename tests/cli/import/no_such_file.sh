# exit 3
"$CALC" import --from nemo missing.yaml
