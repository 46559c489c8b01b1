"$CALC" export --launcher kubernetes llama3-70B llama3-70B_512 --out job.yaml 2> /dev/null
grep -v '^ *--' job.yaml
"$CALC" export --launcher kubernetes llama3-8B llama3-8B_8 2> /dev/null | grep -c 'Worker'
"$CALC" export --launcher kubernetes --to vllm llama3-70B llama3-70B_serving_8 | grep -v '^ *--'
