"$CALC" help --completion fish
