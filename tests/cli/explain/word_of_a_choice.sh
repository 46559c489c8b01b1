# exit 3
"$CALC" show explain mla
