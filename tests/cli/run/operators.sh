# Measured kernels of a layout of context parallelism 2, so that a processor has 4,096 tokens.
cat > mine.csv <<'END'
op,dtype,shape,metric,value,unit
matmul,bf16,m=4096 k=4096 n=28672 layout=TN,time,1.25,ms
matmul,bf16,m=4096 k=4096 n=12288,time,0.75,ms
copy,,bytes=134217728,time,90,us
sdp_fwd,bf16,seq_len=8192 head_num=32 kv_head_num=8 qk_head_dim=128,time,3,ms
END
run() { "$CALC" run llama3-8B h100_sxm llama3-8B_8 "$@"; }
run --operators mine.csv | sed -n '/Where times come from/,$ s/[0-9.]* \([mu]s\)/T \1/gp'
run --operators mine.csv --json with.json --layers > /dev/null
run --json without.json > /dev/null
python3 - <<'END'
import json
one, other = json.load(open("with.json")), json.load(open("without.json"))
for row in one["operators"]:
    if row["source"] == "exact":
        print(row["name"], row["pass"], "%.6g" % row["time"])
    elif row["source"] in ("curve", "roofline"):
        assert row["time"] == row["model_time"], row
    else:
        assert row["time"] != row["model_time"], row
layers = {layer["name"]: layer for layer in one["layers"]}
times = {(row["name"], row["pass"]): row["time"] for row in one["operators"]}
print(all(layers[name]["fw_processing_time"] == times[name, "forward"] for name in layers
          if layers[name]["fw_processing_time"]))
print(one["stats"]["total_time"] != other["stats"]["total_time"], "operators" in other)
END
