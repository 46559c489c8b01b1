# the rates of published layouts in docs/studies.md are those of calc run; scripts/make_advice.py writes them
rows=0
while IFS=, read -r app system exe changes _; do
    sets=()
    for change in $changes; do sets+=(--set "$change"); done
    "$CALC" run "$app" "$system" "$exe" "${sets[@]}" --json - > run.json 2> /dev/null
    rate=$(printf '%.4g' "$(grep -o '"sample_rate": *[0-9.e+-]*' run.json | head -n 1 | sed 's/.*: *//')")
    grep -q "^| .$app. | .$system. | .* | $rate | " "$ROOT/docs/studies.md" ||
        echo "docs/studies.md: $app on $system, $exe: $rate samples/s now; run scripts/make_advice.py --docs"
    rows=$((rows + 1))
done < <(tail -n +2 "$ROOT/executions/published.csv")
echo "$rows rows"
