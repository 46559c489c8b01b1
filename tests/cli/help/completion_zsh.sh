"$CALC" help --completion zsh
