# exit 3
"$CALC" show explain total_tim
