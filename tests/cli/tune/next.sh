# what to try, for programs: an identity and a file per line, and nothing when it is time to stop
tune() { "$CALC" tune llama2-7B a100_sxm_40g --procs 8 --batch 64 --progress none --chooser order "$@"; }
tune --next --picks 3 --out 'my layouts' | tee next.txt
ls 'my layouts'
# identities do not depend on how many candidates there are, or where their files are
tune --next --picks 3 --candidates 20 --threads 1 | cut -d' ' -f1 | diff - <(cut -d' ' -f1 next.txt) && echo same
# the file is an execution, and what is measured of it is of that layout
read -r id _ <next.txt
"$CALC" run llama2-7B a100_sxm_40g "my layouts/$id.json" >run.txt || echo "status $?"
printf 'exe,step_s\n"my layouts/%s.json",9\n' "$id" >exe.csv
printf 'layout,step_s\n%s,9\n' "$id" >id.csv
tune --measured exe.csv >exe.txt
tune --measured id.csv | diff - exe.txt && echo same
# nothing is twice as fast as what is a little faster than predicted
printf 'layout,step_s\n%s,6.5\n' "$id" >fast.csv
tune --measured fast.csv --next --worth 50% --stop 10%
tune --measured new.csv --next | cut -d' ' -f1 | diff - <(head -1 next.txt | cut -d' ' -f1) && echo same
