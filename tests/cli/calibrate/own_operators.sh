# Measurements of one's own: a table of one machine, of which two rows are of no use; two systems at once.
cat > mine.csv <<'END'
op,dtype,shape,metric,value,unit
matmul,bf16,m=8192 k=8192 n=8192,tflops,640,TFLOPS
matmul,bf16,m=4096 k=8192 n=8192,tflops,620,TFLOPS
matmul,bf16,m=4096 k=4096 n=8192,tflops,600,TFLOPS
matmul,bf16,m=4096 k=4096 n=4096,tflops,560,TFLOPS
softmax,bf16,m=4096,time,20,us
matmul,bf16,m=4096 n=4096,time,20,us
all_gather,,ranks=8 bytes=1 GiB,busbw,360,GB/s
END
"$CALC" calibrate --operators mine.csv --system h100_sxm,h200 --date 2026-01-31 --into . || exit
for name in h100_sxm h200; do
    "$CALC" run gpt3-175B $name.json 3072_t4_p64_d12_mbs4_full > /dev/null 2> error || head -2 error
    grep -c 'Operators: fitted on 2026-01-31 to measured operators (matrix 4, all_gather 1)' $name.json
done
