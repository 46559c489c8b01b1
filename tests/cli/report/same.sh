# From what a command wrote the page that it makes itself, to the byte; that of a sweep has the
# layouts of the file. A build without D3 says so.
"$CALC" report gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full > page 2> errors
if grep -q 'built without the library of charts' errors; then
    [ ! -s page ] || echo "a page without charts"
    exit
fi
same()
{
    "$CALC" "$@" --html one.html --json result.json > /dev/null 2>&1
    "$CALC" report result.json --out two.html && cmp one.html two.html
}
run='gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full'
same run $run
same run $run --compat calculon --set mem1.GiB=10
same run deepseek-v3-671B h800 deepseek-v3_2048 --schedule exact --stages stages.csv
same run llama3-405B h100_sxm llama3-405B_16384 --set pipeline_par=8 --set data_par=256 --layers
same run llama3-405B h100_sxm llama3-405B_16384 --band
cp "$ROOT/systems/h100_sxm.json" own.json
same run llama3-405B ./own.json llama3-405B_16384
grep -c '^"band": {' one.html
plan='llama2-70B a800,h800 --procs 16 --batch 32 --axis pp=4 --axis tp=4 --axis pipeline_interleaving=1'
plan="$plan --axis microbatch_size=1 --set num_blocks=8 --set sys.mem1.GBps=1500 --time-limit 1000 --progress none"
same_plan()
{
    "$CALC" plan "$@" --html one.html > /dev/null && "$CALC" plan "$@" --out result.json > /dev/null
    "$CALC" report result.json --out two.html && cmp one.html two.html
}
same_plan $plan
same_plan llama3.2-1B h100_sxm --procs 4 --batch 8 --set num_blocks=8 --set mem1.GiB=8 --layers --time-limit 1000 --progress none
same tune llama2-7B a100_sxm_40g --procs 8 --batch 64 --progress none --simulate 1 --most 4
same tune llama2-7B a100_sxm_40g --procs 8 --batch 64 --progress none --set mem1.GiB=30 --picks 2
same validate
head -n 40 "$ROOT/tests/measured/runs.csv" > few.csv
same validate few.csv
"$CALC" run $run --set mem1.GiB=60 --html one.html > out
"$CALC" report $run --set mem1.GiB=60 > two.html
cmp one.html two.html
# The name of the file, compression and the way it comes do not matter.
"$CALC" run $run --json result.json.gz --html one.html > out
"$CALC" report result.json.gz --out two.html.gz
gzip -dc two.html.gz | cmp - one.html
gzip -dc result.json.gz | "$CALC" report - | cmp - one.html
# A sweep: the first of each list, all that fit the page; with counts, the same in any order.
sweep='gpt3-13B a100_80g --procs 8 --batch 8 --no-prune --threads 1 --progress none'
"$CALC" sweep $sweep --out best.json --summary counts.json > out
"$CALC" report best.json counts.json --out one.html
"$CALC" report counts.json best.json --out two.html
cmp one.html two.html
data() { sed -n '/id="calc-data"/,/<\/script>/p' "$1" | sed '1d;s|</script>||'; }
data one.html > data.json
python3 - <<'END'
import json
page, best, counts = (json.load(open(name + ".json")) for name in ("data", "best", "counts"))
print(page["written"] == best, page["summary"] == counts, len(best["top"]))
for row in best["front"]:
    assert abs(sum(row["time"].values()) / row["stats"]["total_time"] - 1) < 1e-9, row
    assert abs(sum(row["memory1"].values()) / row["stats"]["proc_mem_tier1_cap_req"] - 1) < 1e-9, row
END
"$CALC" report best.json | grep -c '^"summary": null'
echo done
