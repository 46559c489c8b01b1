# exit 2
"$CALC" rnu
