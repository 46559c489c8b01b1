"$CALC" help rnu
