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
offer calc fields la
offer calc params here
