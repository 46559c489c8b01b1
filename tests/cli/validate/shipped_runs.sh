# Every shipped run is scored, or a reason is given; the errors themselves are for docs/validation.md.
"$CALC" validate --worst 0 > table || exit
grep -c '^Calculon table 5' table
grep -E '^[0-9,]+ runs, ' table | cut -d: -f1
grep -Eo '[0-9]+ not predicted: (batch|GPU count|model shape|analytical|no measured|hybrid).*' table
