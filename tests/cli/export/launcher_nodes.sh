# A server on two nodes.
for program in vllm sglang; do
    for launcher in slurm kubernetes; do
        "$CALC" export --to $program --launcher $launcher --per-node 4 llama3-70B llama3-70B_serving_8 --out job 2> /dev/null
        [ $launcher = kubernetes ] || bash -n job
        grep -E 'nodes|ray|LWS|size|srun' job
    done
done
# What each node of SGLang runs, with what Slurm has replaced.
"$CALC" export --to sglang --launcher slurm --per-node 4 llama3-70B llama3-70B_serving_8 --out job 2> /dev/null
mkdir bin
printf '#!/bin/sh\necho node-7; echo node-8\n' > bin/scontrol
printf '#!/bin/sh\nfor node in 0 1; do SLURM_NODEID=$node "$@"; done\n' > bin/srun
printf '#!/bin/sh\nwhile [ "$1" != --dist-init-addr ]; do shift; done; echo "$@"\n' > bin/python3
chmod +x bin/*
PATH=$PWD/bin:$PATH SLURM_JOB_NODELIST='node-[7-8]' SLURM_NNODES=2 bash job MODEL
