"$CALC" import
