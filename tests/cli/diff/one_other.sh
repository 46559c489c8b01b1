# exit 2
"$CALC" diff a100_80g h100_80g_nvl8 gpt3-175B
