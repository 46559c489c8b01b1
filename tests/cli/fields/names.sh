# For the shell: names that --set takes, and the words that a field takes. A number takes none.
"$CALC" fields exe --names | head -4
"$CALC" fields sys --names | grep '^networks' | head -2
"$CALC" fields stats --names | grep -x 'mfu'
"$CALC" fields --values recompute
"$CALC" fields --values exe.seq_par_ag_redo
"$CALC" fields --values tp
"$CALC" fields --values nothing
