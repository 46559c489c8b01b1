#compdef calc
# zsh completion for calc, made by `calc help --completion zsh`
_calc()
{
    if ((CURRENT > 3)) && [[ $words[2] == show ]]; then
        words[2]=()
        ((CURRENT--))
    fi
    local program=$words[1] command=$words[2] word=$words[CURRENT]
    local before=$words[CURRENT-1]
    local choices='' options='' files='' field='' lead='' sign='' model='' kind place=0 i
    if ((CURRENT == 2)); then
        choices="@commands"
        compadd -- ${=choices}
        return
    fi
    if [[ $word == --*=* ]]; then
        before=${word%%=*} word=${word#*=}
        compset -P '--*='
    fi
    [[ $before != --(set|axis) || $word != *=* ]] || field=${word%%=*}
    for ((i = 3; i < CURRENT; i++)); do
        case $command/$words[i] in
        @taking) ((i++)) ;;
        */-?*) ;;
        *) ((place++)) || model=$words[i] ;;
        esac
    done
@choices
    [[ -z $field || -n $lead ]] || lead=$field=
    if [[ -n $sign ]]; then
        compadd -S '' -- ${^=choices}$sign
    elif [[ -n $choices ]]; then
        compadd -- $lead${^=choices}
    fi
    [[ -z $files ]] || _files
}
if [[ $funcstack[1] = _calc ]]; then
    _calc "$@"
else
    compdef _calc calc
fi
