"$CALC" import --from nemo missing.yaml
