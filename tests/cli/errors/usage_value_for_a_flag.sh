"$CALC" run a b c --layers=yes
