"$CALC" fields exe
