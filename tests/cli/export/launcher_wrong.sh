# exit 2
"$CALC" export --launcher slurm --to nemo llama3-70B llama3-70B_512
"$CALC" export --launcher slurm --to mindformers llama3-8B llama3-8B_128_fsdp
"$CALC" export --launcher kubernetes --to tensorrt-llm llama3-70B llama3-70B_serving_8
"$CALC" export --launcher slurm --to json llama3-70B llama3-70B_512
"$CALC" export --launcher slurm llama3-70B llama3-70B_512 --diff llama3-70B_512
"$CALC" export --launcher slurm --per-node 7 llama3-70B llama3-70B_512
"$CALC" export --launcher dynamo --to vllm --per-node 4 deepseek-v3-671B deepseek-v3_serving_128 --set tensor_par=8 --set data_par=16
"$CALC" export --launcher lsf llama3-70B llama3-70B_512
