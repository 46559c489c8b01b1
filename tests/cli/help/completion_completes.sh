# What bash would offer for a line, with the last word unfinished.
PATH=$(dirname "$CALC"):$PATH
source <("$CALC" help --completion bash)
offer() {
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    _calc
    echo "$*: ${COMPREPLY[*]}"
}
touch here.json
offer calc pa
offer calc run gpt3-1
offer calc run gpt3-175B a100
offer calc run gpt3-175B --set x=1 a100
offer calc run gpt3-175B a100_80g 3072
offer calc run --compat c
offer calc run --json he
offer calc run --js
offer calc show fields la
offer calc show params here
# Fields and what they take; the shell splits words at "=".
offer calc run gpt3-175B a100_80g --set te
offer calc run gpt3-175B a100_80g --set recompute = f
offer calc sweep gpt3-175B a100_80g --axis recompute = none,f
offer calc sweep gpt3-175B a100_80g --axis = tp
offer calc run gpt3-175B --set tp = 8 a100
offer calc sweep gpt3-175B a100_80g --where tpo
offer calc sweep gpt3-175B a100_80g --columns tp,mf
offer calc export --to = megatron-
offer calc show explain pipeline_b
offer calc plan gpt3-175B a800,h80
# Executions of the model, of any if the word begins so; a machine may stand before them.
rm here.json
offer calc run llama3-70B h100_sxm ''
offer calc run llama3-70B h100_sxm qwen3-30
offer calc export llama3-70B llama3-70B_5
offer calc export llama3-70B h100_80
