# People's own programs around the Trainer, and files that share keys with those of others.
show() { grep -E 'num_procs|trained|frozen|lora_rank|zero_stage|"eager"|unfused_norm|engine|chunk_size|expert_par|weight_datatype' | tr -d '\n'; echo; }
cat >own.sh <<'EOL'
CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7 deepspeed --master_port 1 --include localhost:0,1,2,3 my/train.py \
    --per_device_train_batch_size 2 --bf16 True --lora_enable True --q_lora True --use_liger True
EOL
"$CALC" import own.sh | show
"$CALC" import --procs 8 --from transformers -- --per_device_train_batch_size 2 --lora_enable True --lora_r 128 | show
# Without learned positions: beside rotary ones, in any order, it says no more.
for order in '--use-rotary-position-embeddings --no-position-embedding' '--no-position-embedding --use-rotary-position-embeddings'; do
    "$CALC" import --from megatron --app m.json -- --num-layers 2 --hidden-size 256 --num-attention-heads 4 --seq-length 64 \
        --max-position-embeddings 64 --micro-batch-size 1 $order >/dev/null 2>&1
    grep position m.json
done
# Options of servers in a file.
printf 'tensor-parallel-size: 4\nmax-num-batched-tokens: 4096\nmax-num-seqs: 96\ngpu-memory-utilization: 0.9\n' >v.yaml
printf 'tp-size: "8"\ndp-size: "8"\nep-size: "8"\nenable-dp-attention: true\nmax-running-requests: "64"\nchunked-prefill-size: "8192"\n' >s.yaml
for file in v.yaml s.yaml; do "$CALC" import $file | show; done
# What verl trains with, by the name of its configuration.
for name in ppo_trainer ppo_megatron_trainer mine; do
    "$CALC" import --from verl --procs 8 -- --config-name=$name actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1 | show
done
# A program whose file has tables of the same names; one whose options are also LLaMA-Factory's; a file of NeMo that does not say how many
# nodes there are.
printf 'data:\n  max_prompt_length: 5\n  path: x\n  shuffle: true\ntrainer:\n  steps: 3\n  project: y\nalgorithm:\n  a: 1\n  b: 2\nactor:\n  size: 3\n  strategy: fsdp\n  depth: 4\nrollout:\n  a: 1\n  b: 2\n' >rl.yaml
printf 'python perf/run.py --model_recipe x --num_gpus 16 --global_batch_size 64 --pipeline_model_parallel_size 2 \\\n --virtual_pipeline_model_parallel_size 4 --a 1 --b 2 --c 3\n' >perf.sh
printf 'trainer: {devices: 8}\nmodel:\n  micro_batch_size: 1\n  global_batch_size: 64\n  pipeline_model_parallel_size: 4\n  expert_model_parallel_size: 8\n  num_moe_experts: 8\n' >nemo.yaml
for file in rl.yaml perf.sh nemo.yaml; do "$CALC" import $file || echo "status $?"; done
# Lists of options in a script beside it; what is not here is said, of the project alone.
mkdir -p sizes
printf '# sizes\nMODEL_ARGS=(\n  --num-layers 4 --hidden-size 256 --num-attention-heads 4 --vocab-size 1000\n)\nother.py --num-layers 9\n' >sizes/m.sh
printf 'D="$(cd -- "$(dirname -- "$0")" && pwd)"\nsource "$D/sizes/m.sh"\n. /opt/conda.sh\nsource env/lost.sh\ntorchrun --nproc-per-node 8 pretrain_gpt.py ${MODEL_ARGS[@]} --seq-length 128 \\\n  --max-position-embeddings 128 --micro-batch-size 1 --bf16\n' >run.sh
"$CALC" import run.sh --app m.json | show
grep -E 'num_blocks|vocab_size' m.json | tr -d '\n'; echo
# Ranks of experts beside those of data; blocks that are trained in part.
printf 'model: {model_config: {hidden_size: 64, num_hidden_layers: 2, num_attention_heads: 4, moe_num_experts: 4}}\nparallelism: {dp: 2, tp: 2, pp: 1, expert_parallel_size: 2}\ntokens: {micro_batch_size: 4, batch_accumulation_per_replica: 1, sequence_length: 32}\n' >n.yaml
"$CALC" import n.yaml | show
printf 'finetuning_type: freeze\nfreeze_trainable_layers: 4\nfreeze_trainable_modules: mlp\ncutoff_len: 64\nper_device_train_batch_size: 1\nneat_packing: true\nbf16: true\n' >f.yaml
"$CALC" import --from llama-factory f.yaml | show
