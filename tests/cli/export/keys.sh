"$CALC" export --to deepspeed --keys
