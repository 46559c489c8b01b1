# Frameworks whose export is a file: the job holds it, and its command reads it. As on two nodes, with what Slurm has replaced.
mkdir bin
printf '#!/bin/sh\necho node-7; echo node-8\n' > bin/scontrol
printf '#!/bin/sh\n[ "$1" = --mpi=pmix ] && shift\nexec "$@"\n' > bin/srun
for program in torchrun python trtllm-llmapi-launch; do
    printf '#!/bin/sh\necho "%s $*" | sed "s|$PWD/||"; env | grep -E "^(PET_|MASTER_)" | sort; head -n 2 ./*-42.*; rm ./*-42.*\n' $program > bin/$program
done
chmod +x bin/*
export PATH=$PWD/bin:$PATH SLURM_JOB_NODELIST='node-[7-8]' SLURM_JOB_ID=42 SLURM_NNODES=2
job()
{
    "$CALC" export --launcher slurm --to "$@" --out job.sh 2> /dev/null && bash -n job.sh && bash job.sh "a b" c
}
job torchtitan llama3-8B llama3-8B_128_fsdp --set recompute=full
job deepspeed llama3-8B llama3-8B_128_fsdp --set recompute=full --set grad_datatype=float32
job megatron-bridge llama3-70B llama3-70B_512 --per-node 4
job tensorrt-llm llama3-70B llama3-70B_serving_8
# Replicas that share no experts are servers of their own, with a file and a job each; those that do are one.
servers() { rm -f job.sh; "$CALC" export --to tensorrt-llm "$@" | grep -E '_size|attention'; job tensorrt-llm "$@"; grep "^#SBATCH" job.sh 2> /dev/null; }
export SLURM_ARRAY_TASK_ID=2
servers llama3-70B llama3-70B_serving_8 --set tensor_par=2 --set data_par=4
servers llama3-70B llama3-70B_serving_8 --set num_procs=32 --set tensor_par=16 --set data_par=2
servers qwen3-30B-A3B llama3-70B_serving_8 --set tensor_par=2 --set data_par=4 --set expert_par=2 --set dispatch_type=replicated
servers qwen3-30B-A3B llama3-70B_serving_8 --set tensor_par=1 --set data_par=8 --set expert_par=8
servers qwen3-30B-A3B llama3-70B_serving_8 --set tensor_par=2 --set data_par=4 --set expert_par=8
job paddle llama3-8B llama3-8B_8 --set grad_datatype=float32 --set fsdp_par=0
"$CALC" export --launcher kubernetes --to torchtitan llama3-8B llama3-8B_128_fsdp --set recompute=full --out job.yaml 2> /dev/null
grep -v ' = ' job.yaml
python3 - << 'END'
try:
    import yaml
    documents = list(yaml.safe_load_all(open("job.yaml")))
    assert documents[0]["data"]["file.toml"].count("\n[") == 5 and documents[1]["kind"] == "PyTorchJob"
except ImportError:
    pass
END
