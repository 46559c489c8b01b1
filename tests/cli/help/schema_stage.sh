"$CALC" schema stage
