# exit 2
"$CALC" show explain total_time gpt3-175B
