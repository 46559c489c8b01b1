"$CALC" help --man run
