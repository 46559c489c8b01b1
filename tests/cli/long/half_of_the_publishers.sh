# Fitted to every second publisher, in alphabetical order, the others' runs are predicted better, too.
"$CALC" calibrate --start documented --hold-out ascend,calculon,foundry,mbridge,mlperf,nemo,simumax,vtrain \
    --system a100_sxm_80g,a100_sxm_40g,vtrain_a100 --system h100_sxm,h100_sxm_500w \
    --system b200,b200_180g,b300,gb200_nvl72,gb300_nvl72 --json half.json > table || exit
sed -n '/^fitted to/,$p' table | awk '/^fitted/ { side = "fitted to" } /^held/ { side = "held out" }
    /^all  / { print side ":", $3, "runs,", ($10 < $5 ? "better" : "worse") }
    side == "held out" && !/^(held|errors|all|- )/ && NF { tables++ } END { print tables, "tables held out" }'
grep -c '"source": "calculon_tab5", .*"held_out": true}' half.json
"$CALC" calibrate --system a100_sxm_80g --hold-out calculon,simumacs 2>&1
"$CALC" calibrate --system a100_sxm_80g --hold-out calculon,,x 2>&1 | head -1
"$CALC" calibrate --system b200_180g --hold-out simumax 2>&1
true
