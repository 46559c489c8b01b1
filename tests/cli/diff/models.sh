"$CALC" diff gpt3-175B llama3-405B
