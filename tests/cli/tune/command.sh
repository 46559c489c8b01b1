# a program measures: its time, too little memory, failures, time-outs, and how often it is run
cat >launch.sh <<'SH'
#!/bin/sh
value() { sed -n "s/.*\"$2\": \([0-9]*\).*/\1/p" "$1" | head -1; }
tp=$(value "$1" tensor_par) pp=$(value "$1" pipeline_par)
echo "$2 in slot $3" >>log
echo "loss 3.2"
echo "$((8000 + 100 * tp + 10 * pp))ms $((30 + tp))GiB"
SH
chmod +x launch.sh
tune() { "$CALC" tune llama2-7B a100_sxm_40g --procs 8 --batch 64 --chooser order --stop 0 "$@"; }
tune --measured runs.csv --command './launch.sh {exe} {layout} {slot}' --most 3 --progress plain >table.txt
cat runs.csv log
# the same command again has nothing to do; more go on
tune --measured runs.csv --command './launch.sh {exe} {layout} {slot}' --most 3 >table.txt
tune --measured runs.csv --command './launch.sh {exe} {layout} {slot}' --most 5 --picks 2 --progress none >table.txt
sort log | cut -d' ' -f2- | uniq -c
sed 1d runs.csv | cut -d, -f1 | sort | uniq -d
# what ends otherwise
cat >ends.sh <<'SH'
echo "$1" >>tries
case $(sort -u tries | wc -l) in
1) echo oom; exit 1 ;;
2) echo 'cuda, "error"' ; exit 3 ;;
3) sleep 600 ;;
4) echo failed ;;
*) echo 9.25 ;;
esac
SH
tune --measured ends.csv --command 'sh ends.sh {layout}' --most 5 --timeout 0.5s --progress plain >table.txt
cut -d, -f2- ends.csv
uniq -c tries | awk '{ print $1 }'
# one that only fails, or is not there
tune --measured bad.csv --command 'exit 1 # {exe}' --progress none --retries 0
echo "status $?"
tune --measured none.csv --command './nothing {exe}' --progress none 2>&1 | grep -v 'nothing: not found'
cat none.csv
