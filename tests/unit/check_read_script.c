#include "formats/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"

/* What a script says, as "key=value;key;..." */
static const char *said(const char *script)
{
    static char text[8192];
    calc_settings settings = {0};
    ck_assert_int_eq(calc_settings_from_script(&settings, script, strlen(script)), CALC_OK);
    text[0] = '\0';
    for (size_t i = 0; i < settings.count; i++) {
        const calc_setting *setting = &settings.item[i];
        strcat(strcat(text, setting->key), setting->value[0] ? "=" : "");
        strcat(strcat(text, setting->value), ";");
    }
    calc_settings_free(&settings);
    return text;
}

CALC_TEST(words_after_an_option_are_its_value)
{
    const char *words[] = {"torchrun",  "--nnodes",  "2", "pretrain.py",
                           "--bf16",    "--modules", "a", "b",
                           "--lr=1e-3", "--offset",  "-1"};
    calc_settings settings = {0};
    ck_assert_int_eq(calc_settings_from_words(&settings, words, 11), CALC_OK);
    ck_assert_uint_eq(settings.count, 5);
    ck_assert_str_eq(settings.item[0].value, "2 pretrain.py");
    ck_assert_int_eq(settings.item[0].argument, 2);
    ck_assert_str_eq(settings.item[1].key, "--bf16");
    ck_assert_str_eq(settings.item[1].value, "");
    ck_assert_str_eq(settings.item[2].value, "a b");
    ck_assert_str_eq(settings.item[3].key, "--lr");
    ck_assert_str_eq(settings.item[3].value, "1e-3");
    ck_assert_str_eq(settings.item[4].value, "-1");
    calc_settings_free(&settings);
}

CALC_TEST(lines_comments_and_arrays_are_read)
{
    ck_assert_str_eq(said("--a 1 \\\n --b 2 # --c 3\n#--d\nX=(\n --e 5\n --f\n)\n"),
                     "--a=1;--b=2;--e=5;--f;");
    ck_assert_str_eq(said("--a 1\necho 2\nX=(--b\n 3\n 4)\n--c\n 5\n6"), "--a=1;--b=3 4;--c=5;");
    ck_assert_str_eq(said("--a 1 \\\r\n 2\r\n 3"), "--a=1 2;");
    ck_assert_str_eq(said("X=(\n a.b=1\n)\npython3 -m c.d \"${X[@]}\" e.f=2"), "a.b=1;e.f=2;");
    ck_assert_str_eq(said("torchrun $X --a#b 1"), "--a#b=1;");
    ck_assert_str_eq(said(""), "");
    ck_assert_str_eq(said("no options"), "");
}

CALC_TEST(quotes_keep_values_together_and_options_apart)
{
    ck_assert_str_eq(said("--a '([0]*3+[1]*5)' --b \"x y\""), "--a=([0]*3+[1]*5);--b=x y;");
    ck_assert_str_eq(said("ARGS=\"\n  --a 1 --b 2\n\"\nARGS='--c'"), "--a=1;--b=2;--c;");
    ck_assert_str_eq(said("--a \"--b 1 --c '[2]'\" 3"), "--a;--b=1;--c=[2] 3;");
    ck_assert_str_eq(said("--a 'never closed"), "--a=never closed;");
    ck_assert_str_eq(said("--a \\$X"), "--a=$X;");
}

CALC_TEST(variables_of_the_text_are_filled_in)
{
    ck_assert_str_eq(said("TP=8\nPP=\"2\"\n--a $TP --b ${PP} --c=$TP$PP"), "--a=8;--b=2;--c=82;");
    ck_assert_str_eq(said("A=1; B=$A\nA=3\n--a $B"), "--a=1;");
    ck_assert_str_eq(said("A=${A:-\"4\"}\n--a $A --b ${B:-5}"), "--a=4;--b=5;");
    ck_assert_str_eq(said("--a $UNKNOWN --b ${ALSO} --c $((2*3))"),
                     "--a=$UNKNOWN;--b=${ALSO};--c=6;");
    ck_assert_str_eq(said("A=1\n--a '$A' --b \"$A\""), "--a=$A;--b=1;");
}

CALC_TEST(defaults_are_taken_where_nothing_is_set)
{
    ck_assert_str_eq(said("--a ${A:-${B:-4}} --b ${B-5} --c ${C:=6} --d $C"),
                     "--a=4;--b=5;--c=6;--d=6;");
    ck_assert_str_eq(said("A=1\n--a ${A:=2} --b ${A} --c ${A%x} --d ${#A}"),
                     "--a=1;--b=1;--c=${A%x};--d=${#A};");
    ck_assert_str_eq(said("B=(1)\n--a x ${B[@]} --b ${@:2}"), "--a=x;--b=${@:2};");
}

CALC_TEST(arithmetic_is_computed)
{
    ck_assert_str_eq(said("N=4\nG=8\nW=$(($N*${G}))\n--a $W --b $((W/2 - N * (1 + 2)))"),
                     "--a=32;--b=4;");
    ck_assert_str_eq(said("--a $((7 / 2)) --b $(( -7 % 4 )) --c $((2*-3))"),
                     "--a=3;--b=-3;--c=-6;");
    ck_assert_str_eq(said("W=$(( 2 * 3 )); V=\"$((W+1))\"\n--a ${V}"), "--a=7;");
    ck_assert_str_eq(said("N=8\n--a $(expr 16 / $N) --b $(expr 64 / $N \\* 2) --c $(expr $X / 2)"),
                     "--a=2;--b=16;--c=$(expr $X / 2);");
    /* What cannot be computed is as it is written. */
    ck_assert_str_eq(said("--a $((X*2)) --b $((1/0)) --c $((1+)) --d $((2**3))"),
                     "--a=$((X*2));--b=$((1/0));--c=$((1+));--d=$((2**3));");
    ck_assert_str_eq(said("--a $((9223372036854775807*9223372036854775807))"),
                     "--a=$((9223372036854775807*9223372036854775807));");
}

CALC_TEST(what_commands_print_is_not_known)
{
    ck_assert_str_eq(
        said("A=$(srun --nodes=1 -w \"$H\" hostname --ip)\nB=`nproc --all`\n--a 1 --b $(x -- y)"),
        "--a=1;--b=$(x -- y);");
    /* Apart from text that a script prints itself. */
    ck_assert_str_eq(said("A=$(cat <<END\n--a 1 \\\n--b 'x y'\nEND\n)\n"), "--a=1;--b=x y;");
    ck_assert_str_eq(said("read -r -d '' A << END\n --a 1\n it's --b 2\nEND\n"), "--a=1;--b=2;");
}

CALC_TEST(commands_in_strings_are_read)
{
    ck_assert_str_eq(
        said("T=2\nsrun bash -c \"run --a \\$T --b \\\"([0]*1+[1]*$T)\\\" --c 'x y'\""),
        "--a=2;--b=([0]*1+[1]*2);--c=x y;");
    ck_assert_str_eq(said("A=\"--a 1\"\nA=\"$A --b 2\"\nA+=\" --c 3\"\nA+=(--d 4)\n$A"),
                     "--a=1;--b=2;--c=3;--d=4;");
}

CALC_TEST(a_value_of_several_branches_is_not_known)
{
    ck_assert_str_eq(said("if [ $X = 1 ]; then A=1; else A=2; fi\n--a $A"), "--a=$A;");
    ck_assert_str_eq(said("A=1\nif [ $X = 1 ]; then A=2; fi\n--a ${A:-7}"), "--a=7;");
    ck_assert_str_eq(said("case $X in a) A=1;; b) A=1;; esac\n--a $A"), "--a=1;");
    ck_assert_str_eq(said("if [ -z $A ]; then A=1; fi\n--a $A"), "--a=1;");
    ck_assert_str_eq(said("if [ $X = 1 ]; then A=1; else A=2; fi\nA=3\n--a $A"), "--a=3;");
}

CALC_TEST(directives_of_slurm_say_how_large_the_job_is)
{
    const char *sizes = "--nnodes=4;--nproc-per-node=8;";
    static const char *const same[] = {
        "#SBATCH --nodes=4 --gres=gpu:8\nrun",
        "#SBATCH -N 4\n#SBATCH --gpus-per-node a100:8 # all\nrun",
        "#SBATCH -N4 --gres=gpu:h100:8,shard:2\n##SBATCH --nodes=9\nrun",
        "#SBATCH --nodes=4\n#SBATCH --ntasks-per-node=8\nrun",
        "#SBATCH --nodes=4 --ntasks=32\nrun",
        "#SBATCH --ntasks=32 --ntasks-per-node=8\nrun",
        "#SBATCH --nodes=4-6 --gpus=32\nrun",
        "#SBATCH --nodes=4 --gres=shard:2,gpu:8\nrun",
        "#SBATCH --nodes=4 --ntasks-per-node=4 --gpus-per-task=2\nrun"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        ck_assert_str_eq(said(same[i]), sizes);
    }
    ck_assert_str_eq(said("#SBATCH --nodes=4 --gres=gpu:8\n--a $SLURM_NNODES --b "
                          "${SLURM_JOB_NUM_NODES:-1} --c $SLURM_GPUS_ON_NODE --d $SLURM_NTASKS --e "
                          "$WORLD_SIZE --f ${WORLD_SIZE:-1} --g $SLURM_JOB_ID"),
                     "--nnodes=4;--nproc-per-node=8;--a=4;--b=4;--c=8;--d=4;--e=32;--f=1;"
                     "--g=$SLURM_JOB_ID;");
    /* Without nodes or processors nothing is made up. */
    ck_assert_str_eq(said("#SBATCH --time=1 --gres=gpu:8\n--a $SLURM_NNODES"),
                     "--nproc-per-node=8;--a=$SLURM_NNODES;");
    ck_assert_str_eq(said("#SBATCH --nodes=99999999999999999999\n--a 1"), "--a=1;");
    ck_assert_str_eq(said("#SBATCH --gres=shard:4\n#SBATCH --nodes=$N --gpus-per-node=h100 "
                          "--gres=gpu:h100\n# SBATCH --nodes=4\n#SBATCHX "
                          "--nodes=4\n#SBATCH\n#SBATCH =4 --nodes\n--a 1"),
                     "--a=1;");
}

CALC_TEST(variables_of_launchers_are_sizes_that_no_option_says)
{
    ck_assert_str_eq(said("NPROC_PER_NODE=8 swift sft --a 1"), "--a=1;--nproc-per-node=8;");
    ck_assert_str_eq(said("n=4\nNNODES=2 NPROC_PER_NODE=$n swift sft --a 1"),
                     "--a=1;--nproc-per-node=4;--nnodes=2;");
    /* Nodes alone are no processors; what is computed is not known; options say it. */
    ck_assert_str_eq(said("NNODES=2 run --a 1"), "--a=1;");
    ck_assert_str_eq(said("NPROC_PER_NODE=$(nvidia-smi -L) run --a 1"), "--a=1;");
    ck_assert_str_eq(said("NPROC_PER_NODE=8\nrun --nproc_per_node 4 --a 1"),
                     "--nproc_per_node=4;--a=1;");
    ck_assert_str_eq(said("NPROC_PER_NODE=8\nNNODES=4\n"), "");
}

CALC_TEST(places_are_those_of_the_options)
{
    const char *script = "X=1\n  --a \\\n     --b $X\n";
    calc_settings settings = {0};
    ck_assert_int_eq(calc_settings_from_script(&settings, script, strlen(script)), CALC_OK);
    ck_assert_uint_eq(settings.count, 2);
    ck_assert_int_eq(settings.item[0].line, 2);
    ck_assert_int_eq(settings.item[0].column, 3);
    ck_assert_int_eq(settings.item[1].line, 3);
    ck_assert_int_eq(settings.item[1].column, 6);
    calc_settings_free(&settings);
}

/* Each variable is twice the one before: 2^200 characters, were they all written. */
CALC_TEST(variables_that_double_each_other_end)
{
    char script[16384] = "A0=\n";
    for (int i = 1; i < 200; i++) {
        char line[64];
        snprintf(line, sizeof line, "A%d=$A%d$A%d\n", i, i - 1, i - 1);
        strcat(script, line);
    }
    strcat(script, "--a x$A199 --b 1");
    ck_assert_ptr_nonnull(strstr(said(script), "--b=1;"));
}

CALC_TEST(words_too_long_are_cut)
{
    char script[10000] = "--a ";
    memset(script + 4, 'x', 9000);
    strcpy(script + 9004, " --b 1");
    const char *text = said(script);
    ck_assert_uint_eq(strlen(text), strlen("--a=;--b=1;") + 4095);
}

/* Four MiB that would take hours if each word looked at all the others. */
CALC_TEST(hostile_texts_end)
{
    static const char *const unit[] = {"${",
                                       "--a x x x ",
                                       "\"'",
                                       "A=$A ",
                                       "--a \\\n",
                                       "'--a ",
                                       "x ",
                                       "$(",
                                       "A=${",
                                       "A=\"${A:-",
                                       "$((1+",
                                       "A=$(cat ",
                                       "#SBATCH -N4\n",
                                       "\\\"",
                                       "if A=1 A=2 $A "};
    for (size_t i = 0; i < sizeof unit / sizeof *unit; i++) {
        size_t length = (size_t)4 << 20;
        char *text = malloc(length);
        calc_settings settings = {0};
        ck_assert_ptr_nonnull(text);
        for (size_t j = 0; j < length; j++) {
            text[j] = unit[i][j % strlen(unit[i])];
        }
        memcpy(text, "--b ", 4);
        calc_errors errors = {0};
        calc_status status =
            calc_settings_from_text(&settings, CALC_SYNTAX_SHELL, text, length, "s", &errors);
        if (settings.count == CALC_SETTINGS_MAX) {
            ck_assert_int_eq(status, CALC_ERR_SYNTAX);
            ck_assert_str_eq(errors.item[0].text, "more than 100000 keys");
        } else {
            ck_assert_int_eq(status, CALC_OK);
        }
        calc_settings_free(&settings);
        free(text);
    }
}
