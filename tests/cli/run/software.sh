# Software gives fields that neither the file nor --set states, in any order; the last name counts.
step() { "$CALC" run llama3-8B h100_sxm "$@" 2>&1 | grep -E '^  software|time per step|:' | grep -E 'software|per step' | cut -c1-40; }
step llama3-8B_8
step llama3-8B_8 --set software=nanotron
step llama3-8B_8 --set software=nanotron --set eager=false
step llama3-8B_8 --set eager=false --set software=nanotron
step llama3-8B_8 --set software=nanotron --set software=megatron-lm
step llama3-8B_8 --set software=nanotron --set software=null
step llama3-8B_8 --set software="$ROOT/executions/software/nanotron.json" | sed 1d
echo "its fields written out:"
step llama3-8B_8 --set eager=true --set attention_kernel=generic --set tensor_par_overlap=async --set framework_mem=loss_copies --set pipeline_balance=free | head -1
# In a file, with its own keys before the document's; "auto" leaves a field open.
sed 's/"num_procs"/"software": "nanotron",\n  "num_procs"/' "$ROOT/executions/llama3-8B_8.json" > named.json
sed 's/"num_procs"/"eager": false,\n  "num_procs"/' named.json > stated.json
step named.json
step stated.json
step stated.json --set eager=true
# What it would make illegal it leaves: nothing overlaps on one processor.
"$CALC" run llama3-8B h200 --procs 1 --batch 8 --set software=megatron-lm --json one.json > /dev/null 2>&1
grep -c '"data_par_overlap": false' one.json
# Saved and read again it is the same, with the name.
"$CALC" run llama3-8B h100_sxm stated.json --json saved.json > /dev/null
grep -E '"(software|eager|attention_kernel)"' saved.json
echo '{"app": "llama3-8B", "sys": "h100_sxm", "exe": "llama3-8B_8", "set": {"software": "nanotron"}, "stats": ["total_time"]}
{"app": "llama3-8B", "sys": "h100_sxm", "exe": "llama3-8B_8", "set": {"software": "nanotrn"}, "stats": ["total_time"]}' |
    "$CALC" serve --stdio | cut -c1-92
