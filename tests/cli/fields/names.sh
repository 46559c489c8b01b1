# For the shell: names that --set takes, and the words that a field takes. A number takes none.
"$CALC" show fields exe --names | head -4
"$CALC" show fields sys --names | grep '^networks' | head -2
"$CALC" show fields stats --names | grep -x 'mfu'
"$CALC" show fields --values recompute
"$CALC" show fields --values exe.seq_par_ag_redo
"$CALC" show fields --values tp
"$CALC" show fields --values nothing
