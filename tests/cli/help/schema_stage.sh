"$CALC" show schema stage
