# exit 2
"$CALC" explain total_time gpt3-175B
