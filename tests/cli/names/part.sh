"$CALC" show names sys h100
"$CALC" show names exe llama3-70B
"$CALC" show names app nothing-like-it
