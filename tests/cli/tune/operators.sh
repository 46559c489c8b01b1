# measured kernels of the machine take the place of what published runs say of shapes
arguments="llama3-8B b200_180g --procs 8 --batch 32 --axis pp=1,2 --axis mbs=1,2 --top 3"
$CALC tune $arguments --operators "$ROOT/tests/measured/operators.csv" --rows b200
# which machine's?
$CALC tune $arguments --operators "$ROOT/tests/measured/operators.csv" || true
$CALC tune $arguments --rows b200 || true
# nothing of what these layouts run
printf 'op,dtype,shape,metric,value,unit\nall_reduce,bf16,bytes=1048576 ranks=8 stride=1,time,0.001,s\n' > links.csv
$CALC tune $arguments --operators links.csv || true
