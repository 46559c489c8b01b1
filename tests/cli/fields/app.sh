"$CALC" show fields app
