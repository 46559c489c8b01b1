export COLUMNS=60
"$CALC" run llama3-70B h100_sxm llama3-70B_512 --tokens 15T --set price=2.5
