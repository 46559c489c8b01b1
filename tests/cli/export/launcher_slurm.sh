"$CALC" export --launcher slurm llama3-70B llama3-70B_512 --out job.sh
grep -v '^    --' job.sh
bash -n job.sh
# What srun gets is the script that export writes without a job.
"$CALC" export llama3-70B llama3-70B_512 --out plain.sh 2> /dev/null
sed -n "/END_OF_SCRIPT' /,/^END_OF_SCRIPT/p" job.sh | sed '1d;$d' | cmp - plain.sh
# As on two nodes, with what Slurm has replaced: torchrun is told where the others are.
mkdir bin
printf '#!/bin/sh\necho node-7; echo node-8\n' > bin/scontrol
printf '#!/bin/sh\nexec "$@"\n' > bin/srun
printf '#!/bin/sh\necho "$PET_RDZV_ENDPOINT $PET_RDZV_BACKEND $PET_RDZV_ID $1 $2 $3 $4"; for last; do :; done; echo "$last"\n' > bin/torchrun
chmod +x bin/*
PATH=$PWD/bin:$PATH SLURM_JOB_NODELIST='node-[7-8]' SLURM_JOB_ID=42 bash job.sh --data-path "two words"
for layout in "--to vllm llama3-70B llama3-70B_serving_8" "--to sglang llama3-70B llama3-70B_serving_8"; do
    "$CALC" export --launcher slurm $layout --out job.sh 2> /dev/null
    bash -n job.sh && sed -n '/^END_OF_SCRIPT/,$p' job.sh
done
