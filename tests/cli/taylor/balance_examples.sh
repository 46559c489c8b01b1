# Small pipelines whose optima are published: 57, 63, 65, 69, none, 63.99, 249, 258, 66.5, 112.2, 103.02.
terms() { # first middle last (limits beside a cap of 50 GB), held and kept of a dense layer
    printf '%s\n' static_mem0=$((51200 - $1)) static_mem=$((51200 - $2)) lm_head_mem=$((51200 - $3)) \
        layer_mem=3000 act_mem=800 select_mem=500 re_comp_mem=50 \
        layer_mem012="$4" act_mem12="$5" select_mem12=500 re_comp_mem12=50 > terms.txt
}
pipe() { # stages chunks micro-batches dense layers flags...
    sed "s/55GB/50GB/; s/pipeline_stage: 16/pipeline_stage: $1/; s/pp_interleave_num: 1/pp_interleave_num: $2/
        s/micro_batch_num: 64/micro_batch_num: $3/; s/first_k_dense_replace: 3/first_k_dense_replace: $4/
        s/num_layers: 61/num_layers: $5/; s/mtp_depth: 1/mtp_depth: 0/; s/expert_parallel: 32/expert_parallel: 1/
        s/data_parallel: &dp 16/data_parallel: 1/; s/model_parallel: 4/model_parallel: 1/" \
        "$ROOT/tests/cli/taylor/deepseek3.yaml" > a.yaml
    shift 5
    "$CALC" as taylor balance -yaml a.yaml --memory_info terms.txt -check n --write n "$@" |
        grep -E '^(step|offset|no solution)'
}
terms 40000 40000 40000 3000 800
pipe 2 1 4 0 6
terms 14000 14000 14000 3000 800
pipe 2 1 4 0 6
terms 12000 14000 14000 3000 800
pipe 2 1 4 0 6
terms 11000 11000 11000 3000 800
pipe 2 1 4 0 6
terms 8000 8000 8000 3000 800
pipe 2 1 4 0 6
terms 12000 14000 14000 3000 800
pipe 2 1 4 0 6 --select yes
terms 40000 40000 40000 3000 800
pipe 2 1 20 0 6
pipe 4 1 26 0 10 | grep step
pipe 2 2 4 0 8 --low_mem y
terms 22000 24000 20000 1000 500
pipe 4 1 8 1 12 -layer_ratio .4
terms 13000 12500 11500 1000 500
pipe 4 1 8 3 12 -layer_ratio .4 -b_ratio 1.8 -head_loss 1.2 -ra_ratio .9 --taylor_compat yes | grep step
pipe 4 1 8 3 12 -layer_ratio .4 -b_ratio 1.8 -head_loss 1.2 -ra_ratio .9 | grep step
