"$CALC" import one two
