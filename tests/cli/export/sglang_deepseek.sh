"$CALC" export --to sglang deepseek-v3-671B deepseek-v3_serving_128
