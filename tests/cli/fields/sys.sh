"$CALC" fields sys
