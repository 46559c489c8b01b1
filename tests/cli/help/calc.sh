"$CALC" --help
