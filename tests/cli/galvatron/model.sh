# Nothing was profiled; what is written can be run.
"$CALC" as galvatron search --model llama2-7B --system a100_sxm_40g --memory_constraint 36 --settle_bsz 64 \
    --default_dp_type zero2 --pipeline_type pipedream_flush --time_profile_mode batch | sed -e '/^throughput\|^step/s/[0-9.]\+/N/' -e 's/; [0-9]* of [0-9]* tasks solved//'
"$CALC" run llama2-7B a100_sxm_40g configs/*.json | head -n 4
