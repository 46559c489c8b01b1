"$CALC" why deepseek-v3-671B h800 deepseek-v3_2048 --top 3
