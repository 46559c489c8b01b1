"$CALC" show names app | grep gpt3
