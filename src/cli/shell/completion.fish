# fish completion for calc, made by `calc help --completion fish`
# __calc_command NAME [PLACE]: the command is NAME and PLACE arguments are there
function __calc_command
    set -l tokens (commandline -opc)
    test (count $tokens) -ge 2; and test $tokens[2] = $argv[1]; or return 1
    set -q argv[2]; or return 0
    set -l place 0
    set -l skip no
    for token in $tokens[2..-1]
        if test $skip = yes
            set skip no
            continue
        end
        switch $argv[1]/$token
            case@taking
                set skip yes
            case '*/-?*'
            case '*'
                set place (math $place + 1)
        end
    end
    test $place -eq (math $argv[2] + 1)
end
complete -c calc -f
complete -c calc -n __fish_use_subcommand -l version
complete -c calc -s h -l help
@rules