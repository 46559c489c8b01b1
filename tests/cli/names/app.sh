"$CALC" names app | grep gpt3
