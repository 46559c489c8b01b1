"$CALC" explain total_tim
