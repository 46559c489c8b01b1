# how many runs lie in bands that were made without them, by what the band knows of them
"$CALC" validate --show band --worst 0 | sed -n '/runs in their bands/,$p' | grep -E 'in their bands|inside|^(all|MoE|dense|MLPerf|MT-NLG)'
