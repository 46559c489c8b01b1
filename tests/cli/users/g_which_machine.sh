# 2,048 processors, 15e12 tokens, 60 days: does it pay to connect 72 instead of 8?
"$CALC" sweep kimi-k2-1T gb200_nvl72 --procs 2048 --batch 8192 --axis 'sys.networks[0].size=8,72' --per design \
    --top 1 --tokens 15T --days 60 --set price=2.5 | sed -n '/^ *#/,/^$/p;/^Training/,$p'
