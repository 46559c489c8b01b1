"$CALC" show params --help
