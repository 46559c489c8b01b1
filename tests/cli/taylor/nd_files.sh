# exit 1
# What is written differs from the user's file in the values only.
file=$ROOT/tests/cli/taylor/deepseek3.yaml
"$CALC" as taylor nd --yaml_path "$file" --max_tp 8 --max_expert_parallel 16 --gbs 2048 \
    --dataset_dir big --small_dataset small --rank_num 32 | tail -n 2
diff "$file" output/dryrun_yaml/DP8_TP8_PP16_EP16_pretrain.yaml
diff "$file" output/profile_yaml/DP4_TP8_PP32_EP8_pretrain.yaml
