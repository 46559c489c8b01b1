# exit 3
printf '{' >app.json
for i in {1..20}; do printf '"unknown%d": 1, ' "$i" >>app.json; done
printf '"hidden": 1}' >>app.json
"$CALC" run app.json a100_80g 3072_t4_p64_d12_mbs4_full
