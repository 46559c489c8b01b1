#!/usr/bin/env bash
# Traces of every schedule are well formed, and say what `calc run --schedule exact` says: the time of
# the step and the memory of the fullest stage.   usage: CALC=path/to/calc check_trace.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
command -v python3 > /dev/null || exit 77
: "${CALC:?set CALC to the command under test}"
CALC=$(cd "$(dirname "$CALC")" && pwd)/$(basename "$CALC")
CALC_PATH=$(cd "$here/../.." && pwd)
export CALC_PATH
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
status=0

# check MORE-ARGUMENTS-OF-TRACE ARGUMENT...
check()
{
    local more=$1 time memory want_time want_memory
    shift
    # shellcheck disable=SC2086
    "$CALC" run "$@" $more --trace trace.json.gz
    if ! read -r time memory _ < <(python3 "$here/check_trace.py" trace.json.gz); then
        echo "calc run --trace - $* $more: not a trace"
        status=1
        return
    fi
    "$CALC" run "$@" --schedule exact --json run.json > summary.txt
    want_time=$(sed -nE 's/^ *"total_time": (.*),$/\1/p' run.json)
    want_memory=$(sed -nE 's/^ *"proc_mem_tier1_cap_req": (.*),$/\1/p' run.json)
    if ! awk -v t="$time" -v m="$memory" -v wt="$want_time" -v wm="$want_memory" -v all="$more" '
        function far(a, b) { return a - b > 1e-9 * b || b - a > 1e-9 * b }
        BEGIN { exit far(t, wt) || (all == "" ? far(m * 2^30, wm) : m * 2^30 > wm) }'; then
        echo "calc trace $* $more: $time s, $memory GiB; calc run: $want_time s, $want_memory bytes"
        status=1
    fi
}

llama=(llama3-405B h100_sxm llama3-405B_16384)
deepseek=(deepseek-v3-671B h800 deepseek-v3_2048)
gpt3=(gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full)
forward=(--set training=false --set data_par_overlap=false --set optimizer_sharding=false
    --set activation_recompute=none --set recompute_modules=none)
check '' "${llama[@]}"
check '--microbatches 3' "${llama[@]}"
check '' "${llama[@]}" --set pipeline_interleaving=1 --set pipeline_par_overlap=false
check '' "${llama[@]}" "${forward[@]}"
for schedule in 1f1b zb_h1 zb_v dualpipe dualpipe_v; do
    check '' "${deepseek[@]}" --set pipeline_schedule=$schedule
done
check '--microbatches 7' "${deepseek[@]}"
check '' "${gpt3[@]}"
check '' "${gpt3[@]}" --set pipeline_par=32 --set data_par=24 --set pipeline_interleaving=3 \
    --set microbatch_size=2
check '' "${gpt3[@]}" --set pipeline_par=16 --set data_par=48 --set activations_offload=true
check '' "${gpt3[@]}" "${forward[@]}" --set activation_recompute=none
check '' mixtral-8x7B h100_sxm mixtral-8x7B_64
check '' llama3-8B h100_sxm llama3-8B_128_fsdp
exit $status
