# exit 3
logs=$ROOT/tests/formats/logs
"$CALC" why llama3-8B h100_sxm llama3-8B_8 --log "$logs/../axolotl.txt"
"$CALC" why llama3-8B h100_sxm llama3-8B_8 --log "$logs/vllm.txt"
"$CALC" why llama3-70B h100_sxm llama3-70B_serving_8 --log "$logs/megatron.log"
"$CALC" why llama3-70B h100_sxm llama3-70B_512 --set batch_size=512 --log "$logs/megatron.log"
"$CALC" why llama3-70B h100_sxm llama3-70B_512 --log "$logs"
"$CALC" run llama3-8B h100_sxm "$logs/titan.log"
"$CALC" run llama3-8B "$logs/nemo.log" llama3-8B_8
"$CALC" why llama3-70B h100_sxm llama3-70B_512 --log nowhere.log
