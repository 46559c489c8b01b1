# exit 2
"$CALC" --versio
