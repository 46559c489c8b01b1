#!/usr/bin/env bash
# tests/measured/residuals.csv, which bands are made of: does it have every measurement that is
# scored and no other, is it what a calibration finds now, and do nine of ten runs lie in bands that
# were made without them? scripts/refit writes it anew.
# usage: CALC=path check_residuals.sh        CALC_LONG=1 calibrates more again
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
residuals=$root/tests/measured/residuals.csv
new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
status=0
complain()
{
    echo "$1: read the difference, then scripts/refit"
    status=1
}

# Every scored measurement; memory is as far off as it is predicted now, and times of a family not
# far from it in the middle, as fits without a fold are like those with it.
"$CALC" validate --csv - | awk -F, '$3 == "scored" && $1 !~ /^"/ {
    print $1 "," $2, log($9 / $10) }' | sort > "$new/scored"
awk -F, 'NR > 1 { print $1 "," $2, $11, $5 }' "$residuals" | sort > "$new/have"
diff <(cut -d' ' -f1 "$new/scored") <(cut -d' ' -f1 "$new/have") ||
    complain "scored measurements and residuals differ"
join "$new/scored" "$new/have" | awk '{ d = $2 - $3; d = d < 0 ? -d : d }
    /,memory / { memory++; if (d > 0.002) { print; bad = 1 } }
    /,step_time / { count[$4]++; far[$4] += d > 0.06 }
    END { for (f in count) if (far[f] > count[f] / 2) { print f; bad = 1 }
        exit bad || !memory || length(count) < 4 }' || complain "residuals are not of this model"

# Forecasts are of such runs, and not far from their residuals: constants of before are not those of now.
awk -F, 'NR > 1 { print $1 ",step_time", $3 }' "$root/tests/measured/forecasts.csv" | sort > "$new/forecasts"
join "$new/have" "$new/forecasts" | awk -v all="$(wc -l < "$new/forecasts")" '{ d = $4 - $2; sum += d < 0 ? -d : d }
    END { exit NR != all || NR < 50 || sum / NR > 0.2 }' || complain "forecasts are not of these runs"

# The family with the fewest runs again; with CALC_LONG=1 also one that has every kind of run.
families=(--system ascend_910b)
[ -z "${CALC_LONG:-}" ] || families+=(--system "h100_sxm,h100_sxm_500w,h800,h200,h20")
"$CALC" calibrate --start documented --residuals "$new/residuals.csv" "${families[@]}" > "$new/table"
awk -F, -v long="${CALC_LONG:-}" '$5 == "910B" || (long && $5 == "H100") {
    print $1 "," $2, $11, $12 }' "$residuals" | sort > "$new/then"
awk -F, 'NR > 1 { print $1 "," $2, $11, $12 }' "$new/residuals.csv" | sort > "$new/now"
join -a 1 -a 2 "$new/then" "$new/now" | awk '
    NF != 5 || ($2 - $4) ^ 2 > 0.005 ^ 2 || ($3 - $5) ^ 2 > 0.005 ^ 2 { print; differ++ }
    END { exit NR < 50 || differ }' || complain "residuals differ by more than half a percent"

# A band of 90 % holds 85 to 95 % of the runs that its fits and itself have not seen: runs, and
# tables of n weighing n^0.6. Families are smaller: 80 to 98 %. It is narrower than 30 %. So do those
# of new publishers and of later software, each of dense models and of mixtures of experts, too.
"$CALC" validate --show band --worst 0 | awk '
    /runs in their bands/ { quantity = $1 }
    quantity != "time" { next }
    $1 == "all" && $2 ~ /^[0-9]+$/ {
        seen = 1
        bad = bad || $5 < 85 || $5 > 95 || $8 > 30 || $14 < $8 || $16 < 50 }
    ($1 == "all" || $1 == "dense" || $1 == "MoE") && $2 ~ /^[0-9]+$/ {
        kinds++
        bad = bad || $4 < 85 || $4 > 95 || $10 < 85 || $10 > 95 || $17 < 85 || $17 > 95 }
    ($1 == "A100" || $1 == "H100" || $1 == "Blackwell" || $1 == "910B") && $3 == "|" && $2 >= 30 {
        families++
        bad = bad || $5 < 80 || $5 > 98 }
    { text = text $0 "\n" }
    END { if (!seen || kinds != 3 || families != 4 || bad) { printf "%s", text; exit 1 } }' ||
    { echo "bands hold too few or too many runs, or are too wide" && status=1; }
exit $status
