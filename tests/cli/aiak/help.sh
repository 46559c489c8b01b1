"$CALC" as aiak --help
