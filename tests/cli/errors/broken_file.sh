# exit 3
printf '{\n  "hidden": 12288,\n  "feedforwart": 1\n}\n' >app.json
"$CALC" run app.json a100_80g 3072_t4_p64_d12_mbs4_full
