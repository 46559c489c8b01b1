"$CALC" run --help
