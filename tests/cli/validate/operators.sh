# vTrain's blocks are measured in its runs of 12 and 24 layers; those of 16 and 20 have not been seen, and the reverse.
table=$ROOT/tests/measured/vtrain_blocks.csv
with_layers() { gzip -dc "$ROOT/tests/measured/runs_vtrain_single.csv.gz" | grep -E "^id,|-L($1),"; }
with_layers '12|24' > seen.csv
with_layers '16|20' > unseen.csv
python3 "$ROOT/scripts/make_vtrain_blocks.py" "$CALC" 16,20 > reverse.csv
for runs in unseen seen; do
    for options in '' "--operators $table" '--operators reverse.csv'; do
        echo "$runs ${options##*/}"
        # shellcheck disable=SC2086
        "$CALC" validate $runs.csv --worst 0 $options | grep '^vTrain, one node (A100)'
    done
done
"$CALC" validate unseen.csv --operators "$table" --json unseen.json > /dev/null
python3 "$ROOT/scripts/make_vtrain_blocks.py" "$CALC" > again.csv
python3 - "$table" <<'END'
import csv, json, sys
result = json.load(open("unseen.json"))
errors = [abs(row["error"]) for row in result["rows"]]
assert len(errors) == 720 and sum(errors) / len(errors) < 0.03, sum(errors) / len(errors)
print([file["name"] for file in result["read"]])
old, new = (list(csv.DictReader(open(name))) for name in (sys.argv[1], "again.csv"))
print("the table is what its script makes of the runs:", len(old) == len(new) and all(
    a["shape"] == b["shape"] and abs(float(a["value"]) / float(b["value"]) - 1) < 1e-3 for a, b in zip(old, new)))
END
