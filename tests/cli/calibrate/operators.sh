# Published operators: constants, errors of the file, of the fit, of shapes it has not seen, and with neighbours.
operators=$ROOT/tests/measured/operators.csv
"$CALC" calibrate --operators "$operators" --rows a100_nvswitch --system vtrain_a100 --date 2026-01-31 \
    --out mine.json --json report.json || exit
sed -n "/op_parameters/{n;p;q}" mine.json
grep -o 'Operators: .*' mine.json
"$CALC" run gpt3-175B mine.json 3072_t4_p64_d12_mbs4_full --set mem1.GiB=200 | head -3
python3 - <<'END'
import json
report = json.load(open("report.json"))
machine = report["machines"][0]
used = [o for o in machine["operators"] if "refused" not in o]
print(machine["name"], len(machine["operators"]), len(used), sorted(used[0]))
print(sum(abs(o["unseen_s"] / o["measured_s"] - 1) for o in used) / len(used)
      - machine["classes"][0]["unseen"]["mean_abs"] < 1e-12)
END
