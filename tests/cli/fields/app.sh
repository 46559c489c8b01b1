"$CALC" fields app
