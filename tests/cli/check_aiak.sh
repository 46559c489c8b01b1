#!/usr/bin/env bash
# What `calc as aiak` prints is Python and JSON of the same strategies, whose numbers are consistent; its
# traces end when the step does, and no two slices of a thread overlap.
# usage: CALC=path/to/calc check_aiak.sh
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

# check LAYERS BATCH SEQUENCE FLAG...
check()
{
    local layers=$1 batch=$2 sequence=$3
    shift 3
    rm -rf cache
    "$CALC" as aiak --global-batch-size "$batch" --sequence-length "$sequence" --mode analytic "$@" > lines.txt
    "$CALC" as aiak --global-batch-size "$batch" --sequence-length "$sequence" --format json "$@" > lines.json
    python3 "$here/check_aiak.py" "$layers" "$((batch * sequence))" lines.txt lines.json cache || {
        echo "calc as aiak $*"
        return 1
    }
}

check 80 512 4096 --gpu-infos a800:128,h800:160 --top 4
check 80 512 4096 --gpu-infos a800 --top 3
check 32 1024 2048 --model-name llama-7b --num-gpus 64 --gpu-infos a800:16,ascend_910b:16,h800:32
check 48 512 8192 --model-name galactica-30b --num-gpus 16 --gpu-infos a800:8,h100:8
check 70 512 4096 --model-name glm-130b --num-gpus 128 --gpu-infos h800,ascend_910b:64 --top 2
