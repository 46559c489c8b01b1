"$CALC" run llama3-405B h100_sxm llama3-405B_16384 --set pipeline_interleaving=3 --json - | grep -A 2 '"reasons"'
"$CALC" run llama3-405B h100_sxm llama3-405B_16384 --set mem1.GiB=40 2>&1 > /dev/null | sed "s/[0-9.]* GiB/N GiB/g"
"$CALC" run llama3-405B h100_sxm llama3-405B_16384 --set networks[1].size=8192 --csv - | cut -d, -f1-4 | tail -1
