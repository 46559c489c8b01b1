"$CALC" names --help
