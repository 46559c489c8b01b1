# exit 3
# A number that is none; a published table; runs of one's own: what the table or a row lacks, names and fields that are unknown; file, line, column.
head -2 "$ROOT/tests/measured/runs.csv" | sed '2s/,8192,/,8q,/' > runs.csv
"$CALC" validate runs.csv
echo "status $?" >&2
head -2 "$ROOT/tests/measured/published/runs.csv" > runs.csv
"$CALC" validate runs.csv
echo "status $?" >&2
printf 'model,tokens\nllama,1\nllama,2\n' > runs.csv
"$CALC" validate runs.csv
echo "status $?" >&2
printf 'app,sys,exe,measured_s\nllama3-70,h100_sxm,llama3-70B_512,3\nllama3-70B,h100_smx,llama3-70B_512,3\n,h100_sxm,,3\n' > runs.csv
"$CALC" validate runs.csv
echo "status $?" >&2
cat > runs.csv <<'CSV'
app,sys,exe,arguments,tensor_parr,seq_size,sys.mem1.GiB,tensor_par,measured_s
llama3-70B,h100_sxm,llama3-70B_512,,4,,,,15
llama3-70B,h100_sxm,llama3-70B_512,,,2048,,,15
llama3-70B,h100_sxm,llama3-70B_512,,,,80,,15
llama3-70B,h100_sxm,llama3-70B_512,,,,,half,15
llama3-70B,h100_sxm,llama3-70B_512,,,,,,15 s
llama3-70B,h100_sxm,llama3-70B_512,--bf16,,,,,15
llama3-70B,h100_sxm,,--micro-batch-size one,,,,,15
,h100_sxm,,--micro-batch-size 1 --hidden-size 4096,,,,,15
CSV
"$CALC" validate runs.csv
