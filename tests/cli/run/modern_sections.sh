# Titles and labels, and what there is a number for.
"$CALC" run llama3-405B h100_sxm llama3-405B_128k --layers --set sys.usd_per_hour=2 |
    sed -n '/^Speed/,$p' | sed -E 's/[█▏▎▍▌▋▊▉]//g; s/ +/ /g; s/[0-9][0-9,.]+/N/g; s/N [mun]?s/N s/g; s/N [KMG]iB/N B/g'
