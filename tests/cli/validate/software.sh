# exit 3
# A column of software gives what the row has no cells of: that of published runs of nanotron gives what their fields say.
gzip -dc "$ROOT/tests/measured/unfitted_runs.csv.gz" > runs.csv
python3 - <<'P'
import csv
rows = [r for r in csv.DictReader(open("runs.csv")) if r["source"] == "nanotron_tp1"]
given = set(rows[0]) & set("eager attention_kernel flash_attention fused_cross_entropy data_par_overlap pipeline_par_overlap memory_model".split())
for name, software in ("fields.csv", ""), ("named.csv", "nanotron"):
    out = csv.DictWriter(open(name, "w"), [*rows[0], "software"])
    out.writeheader()
    out.writerows(r | ({key: "" for key in given} | {"software": software} if software else {}) for r in rows)
P
"$CALC" validate fields.csv --csv fields.out --worst 0 | head -2
"$CALC" validate named.csv --csv named.out --worst 0 > /dev/null
cmp fields.out named.out && echo same
printf 'sys,app,exe,software,measured_s\nh100_sxm,llama3-8B,llama3-8B_8,nanotrn,1\n' | "$CALC" validate -
