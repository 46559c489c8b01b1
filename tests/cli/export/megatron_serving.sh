# exit 1
"$CALC" export --to megatron llama3-70B llama3-70B_serving_8 --out run.sh; code=$?; ls; exit $code
