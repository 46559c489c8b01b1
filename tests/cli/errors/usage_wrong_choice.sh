"$CALC" run a b c --compat megatron
