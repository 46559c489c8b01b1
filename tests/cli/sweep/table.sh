# tables fit the width, show what differs, and fold what does not; files are the same as ever
export COLUMNS
sweep() { "$CALC" sweep "$@" --threads 2 --progress none; }
table() { sed -n '/^Best/,$p' | sed '/ layouts$/,$d'; }
small='llama3-8B h100_sxm --procs 16 --batch 64'
for COLUMNS in 60 80 120; do # the wrapped texts are for 80
    sweep $small --top 5 --front | awk -v most="$((COLUMNS > 80 ? COLUMNS : 80))" 'length > most'
    sweep $small --top 5 --front | table | grep -E '^ *[0-9#]+=? ' | awk -v most="$COLUMNS" 'length > most'
done
COLUMNS=50 sweep $small --top 3 | table
COLUMNS=80
# as many different ones as asked for; the best comes first and alone unless the front is wanted
sweep $small --top 3 | grep -c -E '^ *[0-9]+=? +[0-9]'
for front in '' --front '--objectives sample_rate,mem1'; do sweep $small --top 3 $front | grep -E '^(Best|Pareto)' | cut -d' ' -f1; done
# what was asked to be compared is not folded, and has a column even if it must be narrow
sweep llama3-8B h100_sxm --procs 16 --top 4 --axis batch_size=32,64 --axis zero_stage=0,1 --columns batch,zero,il,mfu | table
# the file has the best ones, folded or not
sweep $small --top 3 --out out.csv > table.txt && cut -d, -f1,2 out.csv | grep top
# columns: heads in any case, other names, statistics, fields, swept fields of the machine
sweep $small --top 1 --axis sys.mem1.GiB=80,96 --columns 'gib,MFU %,tokens_per_s,tensor_par,sys.mem1.GiB,machine' | table
sweep $small --columns mfu,speed 2>&1
echo $?
# designs from the fastest on, named by what differs
sweep llama3-8B a100_sxm_80g,h100_sxm,h200 --procs 8 --batch 16 --per design --top 1 --columns machine | table
# as many rows as were asked for, if there are so many answers; a machine that all rows share is named
sweep $small --top 40 | grep -c -E '^ *[0-9]+=? +[0-9]'
sweep $small --set tp=4 --set pp=2 --set mbs=1 --top 40 | grep '^Best'
sweep llama3-8B h100_sxm,a100_sxm_80g --procs 64 --batch 64 --top-by mfu --top 2 | grep -A 1 '^Best'
# of machines and formats that are compared each has the layout that it alone would start with, however slow it is
rows() { sed -n 's/^ *[-0-9]*[=!]*  *\(.* [0-9]*\/[0-9]*\/.*\)/\1/p' | sed 's/  */ /g'; }
compared='--procs 32 --batch 64 --axis zero_stage=0 --axis weight_datatype=auto --columns machine,matrix_datatype,samples/s,tp/pp/dp,cp,mbs,il'
sweep llama3-8B h100_sxm,b200_180g,h200 --axis matrix_datatype=bfloat16,float8 $compared --top 3 | rows | tee together.txt
for machine in h100_sxm b200_180g h200; do
    for format in bfloat16 float8; do
        sweep llama3-8B $machine --axis matrix_datatype=$format $compared --top 1 | rows
    done
done | sort > alone.txt
sort together.txt | diff - alone.txt
sweep llama3-70B h200,v100_sxm --procs 8 --batch 8 --columns machine | table
# models and lengths are not ranked by samples, unless that is asked for, and have no start in common
sweep llama3-8B,llama3-70B h100_sxm,a100_sxm_80g --procs 64 --batch 64 --top 2 --columns model,machine,samples/s | sed -n '/^Models/,/layouts$/p' | sed '/layouts$/d'
lengths='--axis seq_size=4096,8192 --columns seq_size,samples/s'
sweep $small $lengths | sed -n '/^Models/,/layouts$/p' | sed '/layouts$/d'
sweep $small $lengths --save-best best.json --out x.csv 2>&1
ls best.json x.csv 2>&1
sweep $small $lengths,tokens_per_s --top-by tokens_per_s --top 3 --save-best best.json | sed -n '/^Start/,/layouts$/p' | sed '/layouts$/d'
sweep $small $lengths --top-by sample_rate --top 2 --save-best best.json | grep '^Start'
