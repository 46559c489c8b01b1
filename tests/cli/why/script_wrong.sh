# exit 2
printf 'vllm serve llama3-70B-of-ours --tensor-parallel-size 8 --max-num-seqs 64\n' > serve.sh
"$CALC" why serve.sh h100_sxm
printf -- '--actor-num-nodes 1\n--rollout-num-gpus 8\n--rollout-batch-size 32\n--n-samples-per-prompt 8\n--rollout-max-response-len 1024\n' > grpo.sh
"$CALC" why grpo.sh h100_sxm
printf 'hello\n' > note.txt
"$CALC" why note.txt h100_sxm
mkdir folder
"$CALC" why folder h100_sxm
printf -- 'torchrun --nnodes 4 --nproc_per_node 8 pretrain_gpt.py --num-layers 80 --hidden-size 8192 --tensor-model-parallel-size 8\n' > part.sh
"$CALC" why part.sh h100_sxm
"$CALC" why part.sh h100_sxm --procs many
