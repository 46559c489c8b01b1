cat >job.json <<'JOB'
{
  "algorithm": "distillation",
  "prompts": 256, "samples": 2,
  "pools": [{"name": "train", "chips": 8}, {"name": "big", "system": "h200", "chips": 8}],
  "roles": {
    "actor": {"pool": "train", "execution": {"tensor_par": 2, "microbatch_size": 2}},
    "rollout": {"pool": "train", "execution": {"inference": {"engine": "vllm-0.11"}}},
    "teacher": {"model": "qwen3-32B", "pool": "big"}
  }
}
JOB
"$CALC" rl qwen3-8B h100_sxm ./job.json
