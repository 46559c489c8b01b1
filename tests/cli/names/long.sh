"$CALC" names sys --long
"$CALC" names app --long | grep -E '^(gpt3-175B|llama3-8B|qwen3-30B|megatron-5B|gemma3-1B|deepseek-v3)'
"$CALC" names exe --long | grep -E '^(deepseek-v3_2048|seqsel_fig1/gpt3-175B_none|llama3-8B_8)'
"$CALC" names sys --long | sed -n 's/^  \([^ ]*\).*/\1/p' | sort | diff - <("$CALC" names sys) && echo names first
