"$CALC" run deepseek-v3-671B h800 deepseek-v3_2048 | sed -n '1,/^Speed/p'
"$CALC" run llama3-405B h100_sxm llama3-405B_128k | sed -n '/^Layout/,/^Speed/p'
"$CALC" run llama3-8B h100_sxm llama3-8B_128_fsdp | sed -n '/^Layout/,/^Speed/p'
