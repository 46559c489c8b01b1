# A word that no table has is named once, and its row is marked; what is around it is read.
head -1 "$ROOT/tests/measured/runs.csv" > runs.csv
grep '^mbridge_25.11_pre_llama3-70b_gb300_64g_FP8-CS_tp1' "$ROOT/tests/measured/runs.csv" > row
{ sed 's/^mbridge/one/; s/Megatron-FSDP/Warp-FSDP/' row; sed 's/^mbridge/two/; s/Megatron-FSDP/Warp-FSDP/' row; } >> runs.csv
"$CALC" validate runs.csv --rows 0 --csv rows.csv > table || exit
cut -d, -f1,12- rows.csv
