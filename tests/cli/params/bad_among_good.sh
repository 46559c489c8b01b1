# exit 3
echo '{}' >bad.json
"$CALC" show params gpt3-175B bad.json nope megatron-1T
