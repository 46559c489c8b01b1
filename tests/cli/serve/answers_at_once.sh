# A program that waits for an answer before it asks again gets it.
coproc "$CALC" serve --stdio
echo '{"app": "gpt3-175B", "sys": "a100_80g", "exe": "3072_t4_p64_d12_mbs4_full", "stats": ["total_time"]}' >&"${COPROC[1]}"
read -r -t 10 line <&"${COPROC[0]}" && echo "$line"
echo '{"stats": ["bubble_time"]}' >&"${COPROC[1]}"
read -r -t 10 line <&"${COPROC[0]}" && echo "$line"
