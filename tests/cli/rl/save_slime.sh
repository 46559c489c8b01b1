# Engines a step ahead have another program; read again, the script is the job.
"$CALC" rl qwen3-4B h100_sxm --procs 8 --rollout-procs 4 --set steps_off=1 --set tp=2 --set response.cap=4096 --set actor.micro_tokens=8192 \
    --set rollout.num_procs=2 --set rollout.tp=2 --set activation_recompute=full --set cuda_graph=0 --set rollout.inference.engine=sglang-0.5 --save-slime run.sh 2>&1 | grep slime
cat run.sh
"$CALC" import run.sh --job job.json 2>/dev/null
"$CALC" rl qwen3-4B h100_sxm job.json --save-slime again.sh >/dev/null 2>&1
diff run.sh again.sh
# Replicas of engines are engines, unless they share experts.
for experts in 4 8; do
    "$CALC" rl qwen3-30B-A3B h100_sxm --procs 16 --set rollout.tensor_par=4 --set rollout.pipeline_par=1 --set rollout.expert_par=$experts \
        --save-slime run3.sh >/dev/null 2>&1
    grep -E 'sglang-(dp|ep|enable-dp)|gpus-per-engine' run3.sh
    "$CALC" import run3.sh --job job3.json 2>&1 | grep -E 'engines of|MODEL|not name'
done
