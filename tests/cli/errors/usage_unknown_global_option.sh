"$CALC" --versio
