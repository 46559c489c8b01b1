# exit 2
"$CALC" help rnu
