# Whatever the summary calls a number, calc show explain knows it; "optimizer" is a time and a space.
for run in "llama3-70B h100_sxm llama3-70B_512" "deepseek-v3-671B h800 deepseek-v3_2048"; do
    "$CALC" run $run >summary.txt
    sed -n '/^Speed/,/^$/p' summary.txt | sed -nE 's/^  (.{20}).{14} {6}(.{26}).*/\1\n\2/p'
    sed -n '/^Time of/,/^Communication/p' summary.txt | sed -nE 's/^  (.{26}).*/\1/p'
done | sed 's/ *$//' | grep -vE '^(total|optimizer|(peak )?TFLOP/s/processor)$' | sort -u | while IFS= read -r label; do
    "$CALC" show explain "$label" | grep -m1 'statistic of a run'
done
