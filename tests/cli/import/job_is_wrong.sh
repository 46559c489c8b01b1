# exit 2
# Each mistake is one line, at its place.
import() { "$CALC" import --job job.json "$@"; }
slime=(--from slime -- --rollout-batch-size 8 --n-samples-per-prompt 4 --actor-num-gpus-per-node 8)
# Neither together nor apart.
import "${slime[@]}"
# Engines that do not divide what they run on.
import "${slime[@]}" --colocate --rollout-num-gpus-per-engine 3
# More sequences in an optimizer step than there are.
import "${slime[@]}" --colocate --global-batch-size 64
import "${slime[@]}" --colocate --n-samples-per-prompt many
import "${slime[@]}" --colocate --rollout-batch-size 0
# The actor does not fit on its processors.
import "${slime[@]}" --colocate --tensor-model-parallel-size 16
import --from slime -- --actor-num-nodes 1 --n-samples-per-prompt 4 --colocate
# The place in a file, and a variable that nothing sets.
cat >run.sh <<'EOF'
python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo data.train_batch_size=64 \
    actor_rollout_ref.actor.use_kl_loss=maybe trainer.nnodes=2
EOF
import run.sh
sed -i 's/maybe/true/; s/nnodes=2/nnodes=$NODES/' run.sh
import run.sh
# Engines and actors contradict each other.
import --from openrlhf -- --colocate_all_models --actor_num_gpus_per_node 8 --vllm_num_engines 3 --vllm_tensor_parallel_size 2
cat >run.yaml <<'EOF'
grpo: {num_prompts_per_step: 8, num_generations_per_prompt: 4}
policy:
  train_global_batch_size: 32
  max_total_sequence_length: 2048
  generation:
    colocated:
      enabled: false
      resources: {num_nodes: 2, gpus_per_node: 8}
cluster: {gpus_per_node: 8, num_nodes: 2}
EOF
import run.yaml
# A step ahead on the same processors.
echo 'python3 train_async.py --rollout-batch-size 8 --colocate --actor-num-nodes 1' >async.sh
import async.sh
# Of another framework, and with options that are not for it.
"$CALC" import --from megatron --job job.json -- --tensor-model-parallel-size 2
"$CALC" import --from nemo-rl --job job.json run.sh
import run.yaml --exe layout.json
