# Rows without a cost come last, with the reason; the time that solving took is left out here.
file=$ROOT/tests/cli/taylor/deepseek3.yaml
"$CALC" as taylor nd --yaml_path "$file" --max_tp 4 --max_expert_parallel 16 --max_pp 16 --min_pp 16 > /dev/null
echo "parallel_config: {data_parallel: 1}" > output/dryrun_yaml/DP1_TP1_PP1_EP1.yaml
sed 's/data_parallel: &dp 16/data_parallel: 8/' output/dryrun_yaml/DP16_TP4_PP16_EP16_pretrain.yaml > output/dryrun_yaml/DP16_TP4_PP16_EP2_pretrain.yaml
sed 's/55GB/12GB/' output/dryrun_yaml/DP32_TP2_PP16_EP8_pretrain.yaml > other.yaml
mv other.yaml output/dryrun_yaml/DP32_TP2_PP16_EP8_pretrain.yaml
cat > profiles.csv <<'CSV'
tp,dp,pp,ep,vp,dmratio,bfratio,hratio,moe_bw,re_grow_ration
4,16,16,16,1,0.35,2.1,1.4,4.25,0.9
4,16,16,8,1,,,,4,
2,32,16,16,1,0.35,2.1,1.4,7.5,0.9
2,32,16,8,1,0.35,2.1,1.4,7.5,0.9
1,64,16,16,1,0.35,2.1,1.4,,0.9
CSV
"$CALC" as taylor rank --parser_result profiles.csv --mindfomres_dir ~/x --profile_data_dir y | sed 's/_[0-9]*\.csv/_TIME.csv/'
head -c 3 pipeline_output/test_result_*.csv | od -An -tx1
sed -E 's/,[0-9.]+,("\[[^"]*\]"|)$/,TIME,\1/' pipeline_output/test_result_*.csv
