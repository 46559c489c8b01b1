"$CALC" show fields --help
