# exit 3
# Of a script the command that trains or serves is read, with the lists that it has; two that differ are named.
sizes() { "$CALC" import "$@" --exe x.json && grep -E '"(num_procs|tensor_par|seq_size|microbatch_size)"' x.json | tr -d ' \n' && echo; }
cat >two.sh <<'X'
python tools/preprocess_data.py --input x --seq-length 512 --workers 8
OLD="--tensor-model-parallel-size 8 --seq-length 1024"
GPT="--num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 4096"
RUN="torchrun --nproc_per_node 8 pretrain_gpt.py $GPT --micro-batch-size 2 --global-batch-size 64 --bf16 --tensor-model-parallel-size 2"
echo $RUN
eval $RUN
python evaluate.py --micro-batch-size 1 --seq-length 256
X
sizes two.sh
cat >differ.sh <<'X'
torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 32 --micro-batch-size 1 --global-batch-size 64 --tensor-model-parallel-size 2
if [ -n "$LARGE" ]; then
    torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 32 --micro-batch-size 1 --global-batch-size 64 --tensor-model-parallel-size 4
fi
X
sizes differ.sh
sed -i 's/size 4$/size 2/' differ.sh
sizes differ.sh
# Tests decide by && and ||, too.
cat >tests.sh <<'X'
[ -n "$FP8" ] && ARGS="--fp8-format hybrid"
[[ $SP ]] || EXTRA="--sequence-parallel"
[ "$SIZE" = 7b ] && LAYERS=32
cd /workspace && torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers $LAYERS --micro-batch-size 1 --global-batch-size 64 --tensor-model-parallel-size 2 $ARGS $EXTRA
X
sizes tests.sh
# What containers of a manifest run; variables that shells part.
cat >serve.yaml <<'X'
apiVersion: apps/v1
kind: Deployment
spec:
  template:
    spec:
      containers:
      - name: proxy
        args: ["--port", "80"]
      - name: vllm
        env:
        - {name: TP, value: "8"}
        command: ["vllm", "serve"]
        args:
          - meta-llama/Llama-3.1-70B
          - --tensor-parallel-size
          - $TP
          - --max-model-len
          - "32k"
X
sizes serve.yaml
cat >maxtext.sh <<'X'
ARGS="model_name=llama3-8b per_device_batch_size=4 \
    ici_fsdp_parallelism=8 max_target_length=4096"
python3 -m MaxText.train MaxText/configs/base.yml ${ARGS} | tee train.log
X
sizes maxtext.sh
# whose it is does not say which of two servers is meant
printf 'vllm serve llama3-70B --tensor-parallel-size 8\nvllm serve llama3-8B --tensor-parallel-size 1\n' >two.sh
"$CALC" import --from vllm two.sh
# What prepares or talks stands beside what trains; each card that is visible has a process.
printf 'model_name_or_path: x\nfinetuning_type: full\nbf16: true\n' >t.yml
printf 'llamafactory-cli chat c.yml\nCUDA_VISIBLE_DEVICES=0,1,2,3 llamafactory-cli train t.yml\nllamafactory-cli export c.yml\n' >factory.sh
printf 'finetuning_type: lora\ntemplate: x\n' >c.yml
sizes factory.sh
sed -i 's/ \$TP$/ $(TP)/' serve.yaml
sizes serve.yaml
# DeepSpeed's file and an option may not say two stages.
printf '{"zero_optimization": {"stage": 3}, "bf16": {"enabled": true}}' >ds.json
echo 'deepspeed --num_gpus 8 pretrain_gpt.py --deepspeed_config ds.json --zero-stage 1 --micro-batch-size 2 --bf16' >stages.sh
sizes stages.sh
