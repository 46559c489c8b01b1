# Timers say in which part of the step the gap is, and which causes agree with that.
"$CALC" why llama3-70B h100_sxm llama3-70B_512 --log "$ROOT/tests/formats/logs/megatron_timers.log" --top 0 | sed '/^10 %/,$d'
"$CALC" why llama3-70B h100_sxm llama3-70B_512 --log "$ROOT/tests/formats/logs/megatron_timers.log" --top 0 --json - | sed -n '/"log"/,$p'
