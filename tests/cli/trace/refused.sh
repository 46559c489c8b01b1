# No file appears.
gpt3='gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full'
try()
{
    "$CALC" "$@" --out trace.json
    echo $?
}
try trace $gpt3 --set pipeline_interleaving=2 --set pipeline_par=32 --set data_par=24
try trace $gpt3 --set batch_size=12582912
try trace $gpt3 --set batch_size=3072000
try trace $gpt3 --microbatches 0
try trace $gpt3 --microbatches 3x
try trace deepseek-v3-671B h800 deepseek-v3_2048 --set pipeline_schedule=dualpipe_v --set batch_size=1280
try trace - h800 -
ls
