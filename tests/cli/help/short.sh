"$CALC" -h | head -n 1
