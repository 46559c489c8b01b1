"$CALC" diff llama3-405B_16384 llama3-405B_8192 llama3-405B h100_sxm
