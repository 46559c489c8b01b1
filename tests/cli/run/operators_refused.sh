printf 'op,dtype,shape,metric,value\ncopy,,bytes=8,bandwidth GB/s,1\n' > mine.csv
printf 'op,dtype,shape,metric,value\ncopy,,bytes=8,bandwidth GB/s,one\n' > bad.csv
run() { "$CALC" run "$@" > out; echo "status $?, $(wc -l < out) lines" >&2; }
run llama3-8B h100_sxm llama3-8B_8 --operators bad.csv
run llama3-8B h100_sxm llama3-8B_8 --operators none.csv
run llama3-8B h100_sxm llama3-8B_8 --operators mine.csv --schedule exact
run llama3-8B h100_sxm llama3-8B_8 --operators mine.csv --html page.html
run llama3-8B h100_sxm llama3-8B_8 --operators mine.csv --band
run llama3-8B h100_sxm llama3-8B_8 --rows here
run gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full --operators mine.csv
run llama3-70B h100_sxm llama3-70B_serving_8 --operators mine.csv
