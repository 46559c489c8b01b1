"$CALC" show names --help
