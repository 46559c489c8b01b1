# exit 3
# A log of Megatron-LM has the arguments of its run, and stands for model and layout. The count of parameters is that
# which the program printed: 1,035,906,048 on each of four tensor ranks, with 431 more rows of both embeddings and norms
# on every rank: 4 x 1035906048 - 2 x 431 x 3072 - 3 x 57 x 3072.
log() {
    echo '------------------------ arguments ------------------------'
    while read -r name value; do
        printf '%s  %s %.*s %s\n' "$1" "$name" $((48 - ${#name})) ................................................ "$value"
    done <<'X'
accumulate_allreduce_grads_in_fp32 True
add_bias_linear False
apply_rope_fusion True
attention_backend AttnBackend.auto
bf16 True
bias_swiglu_fusion False
context_parallel_size 1
cp_comm_type ['p2p']
encoder_num_layers 28
encoder_seq_length 2048
expert_tensor_parallel_size 4
ffn_hidden_size 10752
fp8_wgrad True
global_batch_size 512
group_query_attention True
hidden_size 3072
kv_channels 128
kv_lora_rank 32
micro_batch_size 1
moe_router_topk 2
moe_ffn_hidden_size 10752
multi_latent_attention False
normalization RMSNorm
num_attention_heads 24
num_experts None
num_layers 28
num_query_groups 24
overlap_p2p_comm False
pipeline_model_parallel_size 1
position_embedding_type rope
q_lora_rank None
recompute_granularity selective
seq_length 2048
sequence_parallel True
swiglu True
tensor_model_parallel_size 4
tp_comm_overlap_ag True
transformer_impl transformer_engine
untie_embeddings_and_output_weights True
use_distributed_optimizer True
use_flash_attn True
vocab_size None
world_size 4
X
    echo '-------------------- end of arguments ---------------------'
    echo ' > padded vocab (size: 50257) with 431 dummy tokens (new size: 50688)'
    for i in 1 2 3 4 5 6; do
        echo " iteration $i/ 20 | elapsed time per iteration (ms): $((i == 1 ? 60000 : 36000 + i)).5 | global batch size: 512 |"
    done
}
log >train.log
"$CALC" import train.log --app a.json --exe x.json
echo $((4 * 1035906048 - 2 * 431 * 3072 - 3 * 57 * 3072))
"$CALC" show params a.json --json - | grep '"parameters"'
grep -E '"(num_procs|tensor_par|batch_size|microbatch_size|activation_recompute|attention_type|seq_size|flash_attention)"' x.json
# Also where a launcher begins each line with its rank.
log 0: >srun.log
"$CALC" import srun.log --app b.json --exe - | cmp - x.json
"$CALC" why train.log h100_sxm | sed -n '/measured/,/left out/p'
"$CALC" validate train.log
sed 's/ hidden_size .*/ hidden_size .. wide/' train.log >wrong.log
"$CALC" import wrong.log
