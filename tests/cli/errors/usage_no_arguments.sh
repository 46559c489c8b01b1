"$CALC" 
