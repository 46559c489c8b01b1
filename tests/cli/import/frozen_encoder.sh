# Encoders of images that are frozen: with their projector, without it, or said not to be.
printf 'stage: sft\nfinetuning_type: full\nper_device_train_batch_size: 1\nmodel_name_or_path: Qwen/Qwen3-VL-8B-Instruct\n' > sft.yaml
for keys in 'freeze_vision_tower: true\nfreeze_multi_modal_projector: true' 'freeze_vision_tower: true' \
    'freeze_vision_tower: false\nfreeze_multi_modal_projector: true'; do
    { cat sft.yaml && printf '%b\n' "$keys"; } > one.yaml
    "$CALC" import one.yaml --procs 8 --exe - | grep -o '"encoder_trained": [^,]*' || echo 'all of it'
done
printf -- '--model Qwen/Qwen3-VL-8B-Instruct --train_type full --freeze_vit true --freeze_aligner true\n' > swift.sh
"$CALC" import --from ms-swift swift.sh --procs 8 --exe - | grep '"encoder_trained"'
