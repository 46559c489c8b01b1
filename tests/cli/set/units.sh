# The same machine written in four ways; numbers in the unit of a file stay as they were.
run() { "$CALC" run llama3-70B h100_sxm llama3-70B_512 "$@" --json - | grep -E '"(GiB|bandwidth|latency)":' | tr -d '\n '; echo; }
run --set mem1.GiB=64 --set 'networks[1].bandwidth=50' --set 'networks[1].latency=1e-05'
run --set mem1.GiB=64GiB --set 'networks[1].bandwidth=50GB/s' --set 'networks[1].latency=10us'
run --set mem1.GiB=65536MiB --set 'networks[1].bandwidth=400Gb/s' --set 'networks[1].latency=0.01ms'
run --set mem1.GiB=80GB | cut -d, -f1
for wrong in mem1.GiB=80GB/s 'networks[1].latency=10GB' 'networks[1].bandwidth=400Gs' tp=1.5K mbs=2GB mem1.GiB=-1GB; do
    "$CALC" run llama3-70B h100_sxm llama3-70B_512 --set "$wrong" 2>&1
    echo "$?"
done
