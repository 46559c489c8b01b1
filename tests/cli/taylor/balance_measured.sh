# Without -dryrun terms of memory come from the file of the layout, if there is one.
cp "$ROOT/tests/cli/taylor/deepseek3.yaml" a.yaml
"$CALC" as taylor balance -yaml a.yaml -dryrun n -check n --write n | head -n 2
mkdir -p pipeline_output/memory_info
cat > pipeline_output/memory_info/layers3_59_micro64_dp16_tp4_pp16_vp1_ep32.txt <<'TXT'
act_mem12=796.6
act_mem=790.7
select_mem12=761.3
select_mem=775.7
re_comp_mem12=31.1
re_comp_mem=51.5
layer_mem012=3493.1
layer_mem=3406.1
static_mem0=7340.6
static_mem=1160.65
lm_head_mem=6904.4
TXT
"$CALC" as taylor balance -yaml a.yaml -dryrun n -check n --write n
