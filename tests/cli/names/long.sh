"$CALC" show names sys --long
"$CALC" show names app --long | grep -E '^(gpt3-175B|llama3-8B|qwen3-30B|megatron-5B|gemma3-1B|deepseek-v3)'
"$CALC" show names exe --long | grep -E '^(deepseek-v3_2048|seqsel_fig1/gpt3-175B_none|llama3-8B_8)'
"$CALC" show names sys --long | sed -n 's/^  \([^ ]*\).*/\1/p' | sort | diff - <("$CALC" show names sys) && echo names first
