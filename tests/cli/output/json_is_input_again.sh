"$CALC" run gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full --json - >a.json
for kind in application system execution; do
    sed -n "/^  \"$kind\": {/,/^  }/p" a.json | sed "1s/.*/{/; \$s/.*/}/" >$kind.json
done
"$CALC" run application.json system.json execution.json --json - >b.json
diff <(grep -v '"names"\|"remarks"' a.json) <(grep -v '"names"\|"remarks"' b.json) && wc -l <a.json
