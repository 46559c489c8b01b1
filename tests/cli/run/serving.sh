# exit 3
for phase in prefill decode serve; do
    "$CALC" run llama3-70B h200 llama3-70B_serving_8 --set inference.phase=$phase
done
"$CALC" run llama3-70B h200 llama3-70B_serving_8 --set inference.phase=disaggregated --set inference.prefill_procs=8 |
    sed -n '/Serving/,/^$/p'
for phase in serve decode; do
    "$CALC" run llama3-70B h200 llama3-70B_serving_8 --set inference.phase=$phase --set inference.batch=5000 |
        sed -n '/Serving/,/^$/p'
done
"$CALC" run llama3-70B h200 llama3-70B_serving_8 --set inference.phase=decode --set inference.batch=5000 2> /dev/null | sed -n '/infeasible/,/^$/p'
"$CALC" run llama3-70B h200 llama3-70B_serving_8 --layers | sed -n '/Operators/,$p'
"$CALC" run llama3-70B h200 llama3-70B_serving_8 --set inference.phase=prefill --layers | sed -n '/Operators/,/^$/p' | head -4
"$CALC" run llama3-70B h200 llama3-70B_serving_8 --set inference.requests=640 --set inference.generate_spread=0.1 \
    --schedule exact | sed -n '/Serving/,/^$/p'
"$CALC" run llama3-70B h200 llama3-70B_serving_8 --set inference.arrival_rate=5 | sed -n '/Serving/,/^$/p'
"$CALC" run llama3-70B h200 llama3-70B_serving_8 --plot > plot.txt
