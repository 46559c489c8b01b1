"$CALC" explain mla
