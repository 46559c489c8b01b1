# exit 3
echo 'hello' >app.json
"$CALC" run app.json a100_80g 3072_t4_p64_d12_mbs4_full
