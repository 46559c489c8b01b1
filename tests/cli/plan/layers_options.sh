# what does not go together, and what does not fit
set -f
while read -r line; do
    # shellcheck disable=SC2086
    eval "set -- $line"
    "$CALC" plan llama2-7B "$@" --per-layer --progress none
    echo "$line: $?" >&2
done <<'LINES'
a100_sxm_40g,h100_sxm --procs 8 --batch 64
a100_sxm_40g --procs 8 --batch 64 --chips a100_sxm_40g:8
a100_sxm_40g --procs 8 --batch 64 --keep-order
a100_sxm_40g --procs 8 --batch 64 --recompute chip
a100_sxm_40g --procs 8 --batch 64 --solver glpsol
a100_sxm_40g --procs 8 --batch 64 --mps p.mps
a100_sxm_40g --balance-only llama3-8B_128_fsdp --set data_par=auto
a100_sxm_40g --procs 8 --batch 64 --set mem1.GiB=4
a100_sxm_40g --procs 7 --batch 64 --axis tp=2
a100_sxm_40g --procs 8
LINES
ls -A
