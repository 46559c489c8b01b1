# exit 3
"$CALC" explain mla
