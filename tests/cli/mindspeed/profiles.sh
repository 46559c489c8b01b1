# Measured activations and one measured step; one file is damaged.
mkdir cache
act() { echo "{\"transformer_act_mem\": $2}" >"cache/$1_MODULE.json"; }
act PP1_TP8_DP1_CP1_UP1_MBS1 0.05
act PP2_TP1_DP1_CP4_UP1_MBS4 0.3
act PP2_TP1_DP2_CP1_UP2_MBS1 0.15
act PP1_TP1_DP1_CP4_UP2_MBS1 0.05
act PP1_TP2_DP1_CP2_UP2_MBS1 0.05
echo '{"step_time": 12.5}' >cache/PP4_TP2_DP1_CP1_UP1_MBS1_MODULE.json
echo '{"step_time": 12.5' >cache/PP8_TP1_DP1_CP1_UP1_MBS1_MODULE.json
"$CALC" as mindspeed "$ROOT/tests/mindspeed/llama_7b.launch" --vocab-size 32000 --generation 1 --profiles cache
rm cache/PP8*
"$CALC" as mindspeed "$ROOT/tests/mindspeed/llama_7b.launch" --vocab-size 32000 --generation 1 --profiles cache \
    --format json 2>/dev/null | grep measured
