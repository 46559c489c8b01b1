# Two micro-batches on two stages, one after the other; then letters without UTF-8, and colours.
layout='gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full --set pipeline_par=2 --set data_par=384 --set mem1.GiB=2000'
"$CALC" run $layout --plot | tail -n 5
LC_ALL=C "$CALC" run $layout --plot | tail -n 5
"$CALC" run $layout --plot --color always | tail -n 3 | sed 's/\x1b/ESC/g'
# Every schedule, and one stage of two.
for schedule in 1f1b gpipe zb_h1 zb_h2 zb_v dualpipe dualpipe_v; do
    echo "$schedule"
    "$CALC" run deepseek-v3-671B h800 deepseek-v3_2048 --set pipeline_schedule=$schedule --set pipeline_par=4 \
        --set data_par=512 --set batch_size=8192 --set mem1.GiB=2000 --set zero_stage=0 --plot | tail -n 5
done
"$CALC" run gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full --set pipeline_par=96 --set data_par=8 --plot |
    tail -n 51 | sed -n '1,4p;50,$p'
