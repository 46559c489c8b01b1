# Replicas on several nodes: those that share experts are one server, others are servers of their own. What the nodes then run, with
# what the clusters have replaced; the YAML as other programs read it.
mkdir bin
export PATH=$PWD/bin:$PATH SLURM_JOB_NODELIST='node-[7-8]' SLURM_NNODES=2 LWS_LEADER_ADDRESS=leader LWS_GROUP_SIZE=2
printf '#!/bin/sh\necho node-7; echo node-8\n' > bin/scontrol
printf '#!/bin/sh\nwhile [ "${1#--}" != "$1" ]; do shift; done; for node in 0 3; do SLURM_NODEID=$node "$@"; done\n' > bin/srun
printf '#!/bin/sh\n' > bin/sleep
for program in vllm sglang ray; do
    printf '#!/bin/sh\necho "    $(echo "$*" | grep -oE -- "--(tensor|data|tp|dp|dist|nnodes|node|headless|address|head|distributed|port)[^ ]*( [^- ][^ ]*)?" | paste -sd" ")"\n' > bin/$program
done
sed -i 's/^echo/[ -z "$LWS_WORKER_INDEX" ] || echo/' bin/ray # under Slurm it runs beside others, in no order
chmod +x bin/*
cat > pods.py << 'END'
import os, subprocess, sys, yaml
def run(pod, nodes, replicas):
    container = pod["containers"][0]
    print(f"  replicas {replicas}, nodes {nodes}, of one {[*container['resources']['limits'].values()][0]}", flush=True)
    for node in (0, 3)[:nodes]:
        words = [word.replace("python3 -m sglang.launch_server", "sglang") for word in container["command"]]
        subprocess.run(words, env=dict(os.environ, LWS_WORKER_INDEX=str(node)), check=True)
[job] = yaml.safe_load_all(sys.stdin)
if job.get("kind") == "LeaderWorkerSet":
    group = job["spec"]["leaderWorkerTemplate"]
    assert group["leaderTemplate"] == group["workerTemplate"]
    run(group["workerTemplate"]["spec"], group["size"], job["spec"]["replicas"])
elif job.get("kind") == "DynamoGraphDeployment":
    for name, service in job["spec"]["services"].items():
        container = service["extraPodSpec"]["mainContainer"]
        args = container.get("args", [])
        assert all(isinstance(word, str) for word in args)
        sizes = [f"{key} {value}" for key, value in zip(args, args[1:]) if key.endswith(("-size", "-mode", "-requests", "-seqs")) and "chunk" not in key]
        sizes += [word for word in args if "=" in word or word.startswith("--is-")]
        print(" ", name, service["replicas"], service.get("multinode"), " ".join(container.get("command", [])[2:] + sizes))
else:
    for role in ("prefill", "decode"):
        if job[role]["create"]:
            sizes = job[role]["parallelism"]
            assert sizes["workers"] == 1 or job["multinode"]
            assert sizes["tensor"] * sizes["dataLocal"] == int(job[role]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"])
            print("  " + role, flush=True)
            run(job[role], sizes["workers"], job[role]["replicas"])
END
job()
{
    echo "$1 $2: $3"
    # shellcheck disable=SC2086
    "$CALC" export --launcher $1 --to $2 $4 --out job 2> /dev/null || { "$CALC" export --launcher $1 --to $2 $4 2>&1 | head -n 1; return; }
    if [ "$1" = slurm ]; then
        bash -n job && grep '^#SBATCH --[na].*[sy]=' job && sed 's/^python3 -m sglang.launch_server/sglang/' job > plain && bash plain MODEL && wait
    else
        python3 pods.py < job
    fi
}
for launcher in slurm kubernetes llm-d dynamo; do
    for program in vllm sglang; do
        job $launcher $program "experts on 16 nodes" "deepseek-v3-671B deepseek-v3_serving_128"
        job $launcher $program "a replica on two nodes, twice" "llama3-70B llama3-70B_serving_8 --per-node 4 --set num_procs=16 --set data_par=2"
        job $launcher $program "experts that replicas on two nodes share" "deepseek-v3-671B deepseek-v3_serving_128 --per-node 4 --set tensor_par=8 --set data_par=16"
        job $launcher $program "four replicas on a node, twice" "llama3-70B llama3-70B_serving_8 --set num_procs=16 --set tensor_par=2 --set data_par=8"
    done
done
job llm-d vllm "one node" "llama3-70B llama3-70B_serving_8"
for job in "llm-d vllm" "llm-d sglang" "dynamo vllm" "dynamo sglang"; do
    job $job "prompts and tokens apart" "llama3-70B llama3-70B_serving_8 --set inference.phase=disaggregated --set inference.prefill_procs=16"
done
job kubernetes vllm "no whole nodes" "llama3-70B llama3-70B_serving_8 --per-node 12 --set num_procs=24 --set data_par=3 --set batch_size=192"
