# Read again, the script is the job, and a step of it takes as long.
lengths=(--set lengths.prompt=256 --set response.mean=1500 --set response.cap=4096)
"$CALC" rl qwen3-8B h100_sxm grpo --procs 16 --set actor.tp=2 --set actor.micro_tokens=8192 "${lengths[@]}" \
    --set cuda_graph=0 --set tensor_par_overlap=async --set grad_datatype=float32 --set fused_cross_entropy=false --set data_par_overlap=false \
    --set rollout.tp=2 --set rollout.num_procs=2 --set rollout.memory_share=0.7 --set rollout.inference.engine=vllm-0.11 \
    --set rollout.inference.chunk_size=7168 --set rollout.inference.max_sequences=1024 --set rollout.inference.page_size=16 \
    --save-verl run.sh 2>saved | sed -n 2p
grep verl saved
cat run.sh
"$CALC" import run.sh --job job.json 2>/dev/null
"$CALC" rl qwen3-8B h100_sxm job.json "${lengths[@]}" --save-verl again.sh 2>/dev/null | sed -n 2p
diff run.sh again.sh
# By FSDP, engines apart; no tensor parallelism in it.
"$CALC" rl qwen3-8B h100_sxm --procs 16 --rollout-procs 8 --set zero_stage=3 --set tp=1 --set pp=1 --set response.cap=2048 \
    --save-verl - 2>/dev/null | grep -E 'fsdp|nodes|hybrid|tensor'
"$CALC" rl qwen3-8B h100_sxm --procs 16 --set zero_stage=3 --set tp=2 --set pp=1 --save-verl run2.sh 2>&1 >/dev/null | grep verl
ls run2.sh 2>/dev/null || true
# Replicas of engines are engines, unless they share experts; the last option of the list ends with it.
for experts in 4 8; do
    "$CALC" rl qwen3-30B-A3B h100_sxm --procs 16 --set tp=1 --set pp=2 --set rollout.tensor_par=4 --set rollout.pipeline_par=1 --set rollout.expert_par=$experts \
        --save-verl run3.sh 2>/dev/null | grep 'engines of'
    grep 'rollout.data_parallel_size' run3.sh
    "$CALC" import run3.sh --job job3.json 2>&1 | grep 'engines of'
    "$CALC" rl qwen3-30B-A3B h100_sxm job3.json 2>/dev/null | grep 'engines of'
done
