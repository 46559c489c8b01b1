"$CALC" show fields exe
