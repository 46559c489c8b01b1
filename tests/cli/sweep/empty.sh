# a space without a single legal layout: what is wrong with it
empty() { "$CALC" sweep "$@" > /dev/null || echo "exit $?"; }
empty gpt3-13B a100_80g --procs 8 --batch 64 --axis tp=8
empty llama3-70B h100_sxm --procs 64 --batch 512 --axis pp=7
empty llama3-70B h100_sxm --procs 64 --batch 10 --axis dp=16
empty deepseek-v3-671B h200 --procs 64 --batch 512 --axis ep=3
