# What --set changed is written, and gives the same numbers without it.
set -e
"$CALC" run llama3-70B h100_sxm llama3-70B_512 --set mem1.GiB=141 --set mbs=2 --set num_blocks=40 --set pp=2 --set dp=32 --set vpp=1 \
    --save-app app.json --save-sys sys.json --save-exe exe.json --json changed.json >changed.txt
"$CALC" run app.json sys.json exe.json --json saved.json >saved.txt
grep -E '"(total_time|proc_mem_tier1_cap_req)"' changed.json | cmp - <(grep -E '"(total_time|proc_mem_tier1_cap_req)"' saved.json)
"$CALC" diff h100_sxm sys.json
"$CALC" run llama3-70B h100_sxm llama3-70B_512 --save-exe - --set mbs=2 | grep microbatch_size
