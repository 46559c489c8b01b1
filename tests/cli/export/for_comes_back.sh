# The layout with which a sweep for a framework starts takes the time of the file that is exported of it, as
# calc import reads that file; or export names what comes back otherwise.
time_of() { "$CALC" run "$@" --json - 2> memory | sed -n 's/.*"total_time": \([0-9.e+-]*\),*$/\1/p'; }
for case in 'llama3-8B h100_sxm 16' 'deepseek-v2-lite h100_sxm 16'; do
    read -r model machine procs <<< "$case"
    for framework in megatron nemo megatron-bridge deepspeed torchtitan paddle mindspeed mindformers; do
        [[ $framework != mind* ]] || machine=ascend_910c
        "$CALC" sweep "$model" "$machine" --procs "$procs" --batch 64 --for "$framework" --top 1 --save-best best.json \
            > table 2> none || { echo "$model $framework: runs none"; continue; }
        "$CALC" export --to "$framework" "$model" best.json --out file 2> lost
        "$CALC" import --from "$framework" --procs "$procs" file --exe exe.json 2> told
        named=$(sed -n 's/^not in [^:]*: \([^ ]*\) = .*/\1/p' lost | tr '\n' ' ')
        awk -v a="$(time_of "$model" "$machine" best.json)" -v b="$(time_of "$model" "$machine" exe.json)" \
            -v what="$model $framework:" -v named="$named" \
            'BEGIN { same = a > 0 && (a - b) ^ 2 <= (1e-9 * a) ^ 2
                     print what, same ? "comes back" : named ? "named: " named : "another time, and nobody says why" }'
    done
done
# What a file says of kernels is named; what the user asks for stays, and other software, too.
"$CALC" sweep llama3-8B h100_sxm --procs 16 --batch 64 --for torchtitan --top 1 --set attention_kernel=vendor --save-best own.json > table
sed 's/"flash_attention"/"attention_kernel": "vendor", "flash_attention"/' own.json > said.json
"$CALC" export --to torchtitan llama3-8B said.json --out file
"$CALC" sweep llama3-8B h100_sxm --procs 16 --batch 64 --for torchtitan --top 1 --set software=torchtitan-eager --plan | grep -E 'eager|attention_kernel'
# Whether a model's gates have a kernel no file says, so that none takes it back.
"$CALC" sweep gpt-oss-120B b300 --procs 64 --batch 256 --for megatron-bridge --plan | grep unfused_experts
