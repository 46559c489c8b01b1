# bash completion for calc, made by `calc help --completion bash`
_calc()
{
    if ((COMP_CWORD > 2)) && [[ ${COMP_WORDS[1]} == show ]]; then
        COMP_WORDS=("${COMP_WORDS[0]}" "${COMP_WORDS[@]:2}")
        ((COMP_CWORD--))
    fi
    local program=${COMP_WORDS[0]} command=${COMP_WORDS[1]}
    local word=${COMP_WORDS[COMP_CWORD]}
    local before=${COMP_WORDS[COMP_CWORD - 1]}
    local choices='' options='' files='' field='' lead='' sign='' model='' place=0 i
    if ((COMP_CWORD == 1)); then
        choices="@commands"
        mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$word")
        return
    fi
    if [[ $word == = || $before == = ]]; then # FIELD=VALUE, or --OPTION=VALUE, in three words
        i=$((COMP_CWORD - 2))
        [[ $word != = ]] || { word='' && ((i++)); }
        field=${COMP_WORDS[i]} before=${COMP_WORDS[i - 1]}
        [[ $field != -* ]] || before=$field field=''
    fi
    for ((i = 2; i < COMP_CWORD; i++)); do
        case $command/${COMP_WORDS[i]} in
        @taking)
            ((i++))
            [[ ${COMP_WORDS[i]} != = ]] || ((i++))
            ;;
        */=) ((i++)) ;;
        */-?*) ;;
        *) ((place++)) || model=${COMP_WORDS[i]} ;;
        esac
    done
@choices
    mapfile -t COMPREPLY < <(
        compgen -P "$lead" -S "$sign" -W "$choices" -- "${word#"$lead"}"
        [[ -z $files ]] || compgen -f -- "$word"
    )
    [[ -z $sign ]] || compopt -o nospace 2>/dev/null
}
complete -o filenames -F _calc calc
