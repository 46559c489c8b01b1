"$CALC" names sys
