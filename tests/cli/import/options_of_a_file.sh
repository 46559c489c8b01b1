"$CALC" import --from nemo -- --num-layers 4
