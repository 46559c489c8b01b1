# a terminal of 80 columns: no line is wider, and no word is missing
wide=$("$CALC" validate "$ROOT/tests/measured/runs.csv")
narrow=$(COLUMNS=80 "$CALC" validate "$ROOT/tests/measured/runs.csv")
awk 'length($0) > 80' <<< "$narrow"
[ "$(wc -L <<< "$wide")" -gt 80 ] && [ "$(tr -s ' \n' '\n\n' <<< "$wide")" = "$(tr -s ' \n' '\n\n' <<< "$narrow")" ] && echo "the same words"
