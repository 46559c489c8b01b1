# A short table with machines of one's own: by name in CALC_PATH, and by path; groups are its machines and sources.
mkdir -p here/systems
cp "$ROOT/systems/h100_sxm.json" here/systems/mycluster.json
cp "$ROOT/systems/h200.json" other.json
export CALC_PATH=here:$CALC_PATH
cat > spring.csv <<'CSV'
name,source,app,sys,exe,microbatch_size,app.seq_size,remark,measured_s,measured_mem_gib
as it is,,llama3-70B,mycluster,llama3-70B_512,,,"slow, rainy",15.3,47.1
more at once,,llama3-70B,mycluster,llama3-70B_512,8,,,14.6,
short,may,llama3-70B,other.json,llama3-70B_512,,2048,,3.7,
uneven,may,llama3-70B,mycluster,llama3-70B_512,3,,,15,
,may,llama3-70B,mycluster,llama3-70B_512,,,,,
CSV
"$CALC" validate spring.csv > table || exit
words='s/[0-9.]+ of [0-9.]+ GiB/A of B GiB/; s/ +[-+]?[0-9.]+(%| s| GiB)//g' # numbers are the model's
sed -n '/errors in/,/^$/p' table | cut -c1-42
sed -n '/^5 runs/,/^$/p' table
sed -n '/largest errors$/,$p' table | sed -E "$words" | sort
"$CALC" validate spring.csv --csv - | grep 'at once' | cut -d, -f1-9,12 | sed -E "$words"
echo
# By fields alone, on a machine of that name; and on none.
sed -n '1p; /^seqsel_tab5_22B_full/{s/^seqsel_tab5/mine/; s/a100_sxm_80g/mycluster/; s/calculon_tab5,nvidia/mine,/; p; s/mycluster/nothing/; p}' "$ROOT/tests/measured/runs.csv" > fields.csv
"$CALC" validate fields.csv --worst 0 | cut -c1-64 | sed -E '2s/ [-+].*//'
