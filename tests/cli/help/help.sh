"$CALC" help --help
