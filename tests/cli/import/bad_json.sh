# exit 3
printf '{"tensor_parallel_degree": 8,\n "bf16": true,\n}\n' > broken.json
"$CALC" import --from paddle broken.json
printf '{\n "tensor_parallel_degree": "wide",\n "sharding": "stage4"}\n' > bad.json
"$CALC" import --from paddle bad.json
