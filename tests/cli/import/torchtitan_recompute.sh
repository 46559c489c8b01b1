# exit 3
# Selective recomputation: by operation, or of every so many blocks, which flavours have; what the
# compiler compiles.
titan() {
    printf '[model]\nname = "llama3"\nflavor = "%s"\n[activation_checkpoint]\nmode = "selective"\n' "$1"
    printf 'selective_ac_option = "%s"\n[compile]\nenable = true\ncomponents = ["%s"]\n' "$2" "$3"
}
for option in op 1 2; do
    titan 8B $option model >titan.toml
    "$CALC" import --from torchtitan --procs 8 titan.toml |
        grep -E 'activation_recompute|recompute_blocks|eager|framework_mem'
done
"$CALC" import --from torchtitan --procs 8 titan.toml --exe layout.json
"$CALC" export --to torchtitan llama3-8B layout.json | sed -n '/activation/,$p'
titan 8B op loss >titan.toml
"$CALC" import --from torchtitan --procs 8 titan.toml | grep -E 'eager|framework_mem'
titan 9B 2 loss >titan.toml
"$CALC" import --from torchtitan --procs 8 titan.toml
