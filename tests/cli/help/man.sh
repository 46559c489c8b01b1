"$CALC" help --man
