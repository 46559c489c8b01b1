# Commands and options that have other names now are still taken, and give the same bytes.
run="llama3-70B h100_sxm llama3-70B_512"
same() { cmp "$1" "$2" && echo "$1"; }
"$CALC" trace $run --microbatches 1 > trace && "$CALC" run $run --microbatches 1 --trace - > run; same trace run
for what in "names sys h100" "fields exe" "explain mfu" "params llama3-8B" "schema space"; do
    "$CALC" $what > before && "$CALC" show $what > after && same before after
done
"$CALC" diff --compat $run > before; "$CALC" diff --rules $run > after; same before after
"$CALC" validate --band --rows 1 > before; "$CALC" validate --show band --worst 1 > after; same before after
"$CALC" plan llama2-7B a100_sxm_40g --procs 8 --batch 64 --layers --out before > out
"$CALC" plan llama2-7B a100_sxm_40g --procs 8 --batch 64 --per-layer --json after > out; same before after
for i in 1 2; do "$CALC" sweep gpt3-13B a100_80g --procs 8 --batch 8 --shard $i/2 --out part$i > out; done
"$CALC" merge part1 part2 --out before.json > out; "$CALC" sweep --merge part2 part1 --out after.json > out; same before.json after.json
