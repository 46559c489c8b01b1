"$CALC" names sys h100
"$CALC" names exe llama3-70B
"$CALC" names app nothing-like-it
