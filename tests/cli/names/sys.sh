"$CALC" show names sys
