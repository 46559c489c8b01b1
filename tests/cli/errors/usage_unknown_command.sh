"$CALC" rnu
