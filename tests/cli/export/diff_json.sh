# exit 2
"$CALC" export --to json llama3-405B llama3-405B_16384 --diff llama3-405B_8192
