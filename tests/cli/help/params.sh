"$CALC" params --help
