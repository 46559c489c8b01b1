"$CALC" names models
