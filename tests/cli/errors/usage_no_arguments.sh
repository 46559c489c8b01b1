# exit 2
"$CALC" 
