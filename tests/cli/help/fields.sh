"$CALC" fields --help
