# A job of OpenRLHF, by the older names and by today's; engines times their processors are those of the actor.
cat >run.sh <<'EOF'
ray job submit --address="http://127.0.0.1:8265" --runtime-env-json='{"working_dir": "/openrlhf"}' -- python3 -m openrlhf.cli.train_ppo_ray \
   --ref_num_nodes 1 --ref_num_gpus_per_node 8 --actor_num_nodes 1 --actor_num_gpus_per_node 8 \
   --vllm_num_engines 4 --vllm_tensor_parallel_size 2 --colocate_all_models --vllm_gpu_memory_utilization 0.6 \
   --init_kl_coef 1e-3 --advantage_estimator group_norm \
   --pretrain OpenRLHF/Llama-3-8b-sft-mixture --remote_rm_url http://localhost:5000/get_reward \
   --micro_train_batch_size 4 --train_batch_size 128 --micro_rollout_batch_size 16 --rollout_batch_size 128 --n_samples_per_prompt 8 \
   --max_epochs 1 --prompt_max_len 1024 --generate_max_len 2048 --zero_stage 3 --bf16 --actor_learning_rate 5e-7 \
   --prompt_data x --input_key y --apply_chat_template --gradient_checkpointing --packing_samples --vllm_sync_backend nccl --enforce_eager \
   --vllm_enable_sleep --deepspeed_enable_sleep
EOF
"$CALC" import run.sh --job job.json
cat job.json
"$CALC" rl llama3-8B h100_sxm job.json 2>/dev/null | sed -n 1,2p
"$CALC" import run.sh | grep -E 'zero|batch|seq|recompute'
# Apart: the processors of roles add up, but for what is beside another.
"$CALC" import --from openrlhf --job - -- --actor.num_nodes 1 --actor.num_gpus_per_node 8 --vllm.num_engines 4 --vllm.tensor_parallel_size 4 \
    --ref.num_nodes 1 --ref.num_gpus_per_node 4 --critic.num_nodes 1 --critic.num_gpus_per_node 2 --reward.num_nodes 1 \
    --reward.num_gpus_per_node 2 --train.colocate_critic_reward --reward.model_name_or_path OpenRLHF/rm --rollout.batch_size 128 \
    --rollout.n_samples_per_prompt 2 --train.batch_size 64 --train.dynamic_batch_enable --train.max_tokens_per_gpu 4096 \
    --ds.ring_attn_size 2 --ds.tensor_parallel_size 2 --train.async_enable --data.max_len 8192 |
    grep -E 'chips|pool"|algorithm|steps|mini|_tokens|cap|"(tensor|context)_par'
