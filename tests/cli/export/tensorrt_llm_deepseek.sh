"$CALC" export --to tensorrt-llm deepseek-v3-671B deepseek-v3_serving_128
