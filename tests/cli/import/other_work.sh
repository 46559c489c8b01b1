# exit 3
# What trains or serves no language model is refused, by what it is.
cat >image.sh <<'X'
accelerate launch --mixed_precision="fp16" train_text_to_image.py --pretrained_model_name_or_path=$M --resolution=512 \
    --train_batch_size=1 --gradient_accumulation_steps=4 --gradient_checkpointing --max_train_steps=15000
X
echo 'torchrun --nproc_per_node 8 run_speech_recognition_ctc.py --per_device_train_batch_size 4 --gradient_checkpointing --bf16' >speech.sh
echo 'python run_glue.py --task_name mrpc --max_seq_length 128 --per_device_train_batch_size 32' >glue.sh
echo 'torchrun pretrain_t5.py --num-layers 12 --micro-batch-size 16 --tensor-model-parallel-size 2' >t5.sh
echo 'text-generation-launcher --model-id x --num-shard 4 --max-input-length 4096 --quantize awq' >tgi.sh
echo 'python tools/checkpoint/convert.py --target-tensor-parallel-size 2 --seq-length 4096 --micro-batch-size 1' >convert.sh
printf '{"peft_type": "LORA", "r": 16, "target_modules": ["q_proj"], "lora_dropout": 0.05, "use_dora": false}' >adapter_config.json
echo 'swift sft --model x --task_type embedding --tuner_type full' >embedding.sh
echo 'swift rlhf --rlhf_type rm --model x --tuner_type full' >rlhf.sh
echo 'trl reward --model_name_or_path x --per_device_train_batch_size 2' >reward.sh
printf 'stage: rm\nfinetuning_type: full\nmodel_name_or_path: x\n' >rm.yaml
printf 'model: {name: hf_t5}\nglobal_train_batch_size: 64\nmax_seq_len: 512\n' >t5.yaml
for f in image.sh speech.sh glue.sh t5.sh tgi.sh convert.sh adapter_config.json embedding.sh rlhf.sh reward.sh rm.yaml t5.yaml; do
    "$CALC" import $f; echo "$f $?" >&2
done
"$CALC" import image.sh
