#compdef calc
# zsh completion for calc, made by `calc help --completion zsh`
_calc()
{
    local program=$words[1] command=$words[2] word=$words[CURRENT]
    local before=$words[CURRENT-1]
    local choices='' options='' files='' place=0 i
    if ((CURRENT == 2)); then
        choices="@commands"
        compadd -- ${=choices}
        return
    fi
    for ((i = 3; i < CURRENT; i++)); do
        case $command/$words[i] in
        @taking) ((i++)) ;;
        */-?*) ;;
        *) ((place++)) ;;
        esac
    done
@choices
    [[ -z $choices ]] || compadd -- ${=choices}
    [[ -z $files ]] || _files
}
if [[ $funcstack[1] = _calc ]]; then
    _calc "$@"
else
    compdef _calc calc
fi
