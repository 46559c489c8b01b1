# exit 3
"$CALC" explain total_tim
