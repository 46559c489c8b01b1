"$CALC" run llama3-70B h100_sxm llama3-70B_512 --tokens 15T | grep 15T
"$CALC" run llama3-70B h100_sxm llama3-70B_512 --tokens 15000Btokens --set price=2.5USD/h | grep -E 'USD|days'
"$CALC" run llama3-70B h100_sxm llama3-70B_512 --tokens 15GB
echo "$?"
