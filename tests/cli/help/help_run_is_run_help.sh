diff <("$CALC" help run) <("$CALC" run a --help) && diff <("$CALC" help) <("$CALC" --help)
