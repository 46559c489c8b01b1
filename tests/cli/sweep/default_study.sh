# without arguments: GPT-3 175B on 4,096 H100
"$CALC" sweep --threads 2 --no-prune | sed 's/ *[0-9.]* [mu]*s  with .*/TIME/'
