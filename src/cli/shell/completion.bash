# bash completion for calc, made by `calc help --completion bash`
_calc()
{
    local program=${COMP_WORDS[0]} command=${COMP_WORDS[1]}
    local word=${COMP_WORDS[COMP_CWORD]}
    local before=${COMP_WORDS[COMP_CWORD - 1]}
    local choices='' options='' files='' place=0 i
    if ((COMP_CWORD == 1)); then
        choices="@commands"
        mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$word")
        return
    fi
    for ((i = 2; i < COMP_CWORD; i++)); do
        case $command/${COMP_WORDS[i]} in
        @taking) ((i++)) ;;
        */-?*) ;;
        *) ((place++)) ;;
        esac
    done
@choices
    mapfile -t COMPREPLY < <(
        compgen -W "$choices" -- "$word"
        [[ -z $files ]] || compgen -f -- "$word"
    )
}
complete -o filenames -F _calc calc
