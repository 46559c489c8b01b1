"$CALC" run llama3-405B h100_sxm llama3-405B_16384 --set pipeline_par=auto 2>&1
"$CALC" run llama3-405B h100_sxm llama3-405B_16384 --set tensor_par=16 --set data_par=auto \
    --set pipeline_interleaving=auto --set data_par_overlap=auto | grep -E '^  (tensor|pipeline|data)  .*network'
