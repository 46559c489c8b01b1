"$CALC" show fields sys
