# exit 2
"$CALC" import --from nemo -- --num-layers 4
