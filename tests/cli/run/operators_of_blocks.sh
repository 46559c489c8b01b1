# A block measured as a whole, one near it, and one of another structure.
write() { printf 'op,dtype,shape,metric,value,unit\ncopy,,bytes=64MiB,time,90,us\nblock,bf16,"%s",time,40,ms\n' "$1" > mine.csv; }
settings='app.structure_type=llama causal=true flash_attention=true context_par=2'
run() { "$CALC" run llama3-8B h100_sxm llama3-8B_8 --operators mine.csv "$@"; }
write "seq_size=8192 hidden=4096 feedforward=14336 attn_heads=32 kv_heads=8 $settings"
run | sed -n '/time per step/p; /waiting/p; /Where times come from/,$ p' | sed 's/ *model FLOPs.*//'
run --json block.json > /dev/null
python3 - <<'END'
import json
row = json.load(open("block.json"))["operators"][0]
print(row["name"], row["pass"], row["source"], row["time"], row["model_time"] != row["time"])
END
write "seq_size=8192 hidden=3072 feedforward=14336 attn_heads=24 kv_heads=8 $settings"
run | grep -A 3 'Where times come from' | sed 's/[0-9.]* \([mu]s\)/T \1/g'
write "seq_size=1024 hidden=4096 feedforward=14336 attn_heads=32 kv_heads=8 $settings"
run | grep -A 3 'Where times come from' | sed 's/[0-9.]* \([mu]s\)/T \1/g'
write "seq_size=8192 hidden=4096 feedforward=14336 attn_heads=32 kv_heads=8 causal=true"
run | grep -A 3 'Where times come from' | sed 's/[0-9.]* \([mu]s\)/T \1/g'
