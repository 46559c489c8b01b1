# exit 3
"$CALC" run a b c --compat megatron
