# fish completion for calc, made by `calc help --completion fish`
# __calc_command NAME [PLACE]: the command is NAME and PLACE arguments are there
function __calc_command
    set -l tokens (commandline -opc)
    test (count $tokens) -ge 3; and test $tokens[2] = show; and test $argv[1] != show; and set -e tokens[2]
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
# __calc_fields SIGN KIND...: names of fields, or what the one before the sign takes
function __calc_fields
    set -l token (commandline -ct | string replace -r -- '^--[a-z-]*=' '')
    set -l lead (string match -r -- '^.*[=,]' $token)
    if test -n "$argv[1]"; and string match -q -- '*=*' $token
        calc show fields --values (string split -m1 = -- $token)[1] 2>/dev/null
    else
        for kind in $argv[2..-1]
            calc show fields $kind --names | string replace -r -- '$' "$argv[1]"
        end
    end | string replace -r -- '^' "$lead"
end
# Executions of the model, the first argument, if there are some.
function __calc_executions
    set -l tokens (commandline -opc)
    set -l own (calc show names exe "$tokens[3]" 2>/dev/null)
    test -n "$own"; and test -z (commandline -ct); and string join \n -- $own; or calc show names exe 2>/dev/null
end
complete -c calc -n '__calc_command explain 0' -a '(__calc_fields "" app sys exe stats)'
complete -c calc -f
complete -c calc -n __fish_use_subcommand -l version
complete -c calc -s h -l help
@rules