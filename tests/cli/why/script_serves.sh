# A server of a script: the most tokens per second on as many processors that lets no request wait longer, in the options of the script, and
# nothing where there is no more. A size that is absent is 1.
requests="--set inference.prompt_size=2000 --set inference.generate_size=500"
echo 'vllm serve meta-llama/Llama-3.1-8B-Instruct --tensor-parallel-size 8 --max-num-seqs 32 --max-num-batched-tokens 512' > wide.sh
# shellcheck disable=SC2086
{
    COLUMNS=80 "$CALC" why wide.sh h100_sxm $requests --top 0 2> /dev/null | sed -n '/the most/,/^$/p'
    "$CALC" why wide.sh h100_sxm $requests --json why.json 2> /dev/null
    python3 - << 'END'
import json
why = json.load(open("why.json"))
print(why["start"][0]["settings"]["--tensor-parallel-size"], why["start"][0]["output_tokens_per_s"] > max(c["output_tokens_per_s"] for c in why["changes"]))
END
    "$CALC" run wide.sh h100_sxm $requests --save-exe wide.json > /dev/null 2>&1
    "$CALC" why llama3-8B h100_sxm wide.json --top 0 | grep -c 'the most' || true
}
printf '[model]\nname = "llama3"\nflavor = "8B"\n[training]\nlocal_batch_size = 1\nseq_len = 8192\n[parallelism]\ntensor_parallel_degree = 2\n' > titan.toml
"$CALC" why titan.toml h100_sxm --procs 64 --top 99 2> /dev/null | grep -o 'context_par [0-9]* -> [0-9]*' | sort -u
