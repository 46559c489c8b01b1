# exit 3
# More memory than the machine has, and an outcome of ok: the row is in another unit.
printf 'layout,step_s,memory_gib,outcome\n77294045,3.3,51200,ok\n' > runs.csv
"$CALC" tune llama2-7B h100_sxm --procs 8 --batch 64 --candidates 200 --measured runs.csv --next
