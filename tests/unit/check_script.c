/* Variables of scripts have the values that bash gives them, or are known not to be known. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/read.h"
#include "frame.h"
#include "scratch.h"

enum { CASES = 150 };

/* What calc makes of TP behind a script. @param lines  filled with calc_setting.unsure */
static void ask(const char *text, char value[64], int lines[2])
{
    char script[1024];
    calc_settings settings = {0};
    snprintf(script, sizeof script, "%s\ntorchrun pretrain.py --a ${TP}", text);
    ck_assert_int_eq(calc_settings_from_script(&settings, script, strlen(script), NULL), CALC_OK);
    const calc_setting *a = calc_settings_last(&settings, "--a");
    ck_assert_ptr_nonnull(a);
    snprintf(value, 64, "%s", a->value);
    memcpy(lines, a->unsure, sizeof a->unsure);
    calc_settings_free(&settings);
}

/* What bash makes of TP behind each script, by one process that runs each in a subshell. */
static void ask_bash(const char *const *script, size_t count, char value[][64])
{
    char folder[256];
    scratch_enter(folder, sizeof folder);
    FILE *file = fopen("scripts.sh", "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "exec 2>/dev/null\npython() { :; }\n");
    for (size_t i = 0; i < count; i++) {
        fprintf(file, "( unset TP PP A N X\n%s\necho \"=$TP\" )\n", script[i]);
    }
    ck_assert_int_eq(fclose(file), 0);
    FILE *bash = popen("bash scripts.sh </dev/null", "r");
    ck_assert_ptr_nonnull(bash);
    for (size_t i = 0; i < count; i++) {
        char line[64] = "";
        while (line[0] != '=' && fgets(line, sizeof line, bash)) {
        }
        ck_assert_int_eq(line[0], '=');
        line[strcspn(line, "\n")] = '\0';
        strcpy(value[i], line + 1);
    }
    pclose(bash);
    scratch_leave(folder);
}

CALC_TEST(variables_are_what_bash_makes_of_them)
{
    static const char *const scripts[] = {
        "TP=8; setup() { TP=2; }",
        "large() { TP=8; }; small() { TP=1; }; large",
        "TP=8; f() { local TP=2; }; f",
        "f() { local N=2; TP=$((N*2)); }; N=1; f",
        "function f {\n TP=2\n}\nTP=1\nf",
        "TP=8; ( TP=1 )",
        "TP=8; TP=4 &",
        "TP=8; TP=4 | cat",
        "TP=4; TP=2 python prep.py",
        "TP=4; A=1 TP=2 \\\n python prep.py",
        "TP=4; env TP=2 true",
        "A=1 TP=2",
        "TP=4; export A=1 TP=2",
        "TP=4\ncat > /dev/null <<EOF\nTP=16\nEOF",
        "TP=4\ncat > /dev/null <<-'EOF'\n\tTP=16\n\tEOF\n",
        "TP=8; unset TP; TP=${TP:-2}",
        "TP=2; TP+=4",
        "N=4; [ $N -le 4 ] && TP=8",
        "TP=4; f() { TP=8; }; f | cat",
        "TP=4; f() { TP=8; return 1; }; f || true",
        "f() { local TP=2; g; }; g() { TP=8; }; TP=4; f",
        "f() { export TP=2; }; TP=1; f",
        "f() { declare TP=2; }; TP=1; f",
        "TP=4; make TP=8 2>/dev/null",
        "TP=4; bash -c \"TP=8; python --a b\"",
        "TP=4; export TP && A=3",
        "TP=2 && PP=4",
        "TP=4; ARR=(TP=8 x)",
        "f() { TP=2; }; f() { TP=4; }; f",
        "TP=4; unset TP PP; : ${TP:=16}",
        "TP=4; TP=$TP$TP",
        "TP=4; A=$TP; TP=2; TP=$A",
        "TP=4; case x in x) TP=8;; *) TP=2;; esac",
        "TP=4; case $(date) in x) TP=8;; *) ;; esac; TP=1",
        "TP=4; (cd /tmp; TP=8; (TP=16)); PP=2",
        "TP=4; f() (TP=2); f",
        "TP=4; declare -i TP=8",
        "TP=4; declare -x TP=8",
        "TP=4; export -n A; TP=2",
        "TP=4; echo TP=8 > /dev/null",
        "TP=4; TP=8 PP=2 python x TP=3; PP=1",
        "TP=4; coproc TP=8",
        "TP=4; if [[ $TP -eq 4 ]]; then TP=8; fi",
        "f() { TP=2\n  # } comment\n}; TP=1",
        "TP=4; cat <<A > /dev/null; TP=8\nTP=2\nA",
        "TP=4; f() { local TP; TP=2; }; f",
        "TP=4; f() { local TP PP=3; TP=2; TP=8; }; f",
        "TP=4; f() { local N; TP=2; }; f",
        "TP=4; f() { local TP=1; ((TP*=2)); }; f",
        "TP=4; printf \"TP=%d\n\" 3 > /dev/null",
        "TP=4; for m in a; do A=$m; done",
        "f() { TP=${1:-8}; }; f 4",
        "f() { if [ \"$1\" = a ]; then TP=2; else TP=8; fi; }; TP=4; f b",
        "f() { TP=${2:-8}; }; f 4",
        "f() { local A=$1 TP=${2:-8}; PP=$TP; }; f x 2; TP=$PP",
        "f() { TP=\"$1\"; }; f \"4\" '2'",
        "g() { TP=${2:-8}; }; f() { g x \"$1\"; }; f 2",
        "f() { local X=$1; shift; TP=${1:-8}; }; f 4 2",
        "f() { shift; shift; TP=${1:-8}; }; f 4 2",
        "f() { TP=${@:2}; }; f 4 2",
        "f() { TP=$2; }; f \"a 3\" 2",
        "TP=\"\"; TP=${TP:-2}",
        "f() { return 0; TP=8; }; TP=2; f",
        "f() { declare -g TP=8; }; TP=2; f",
        "M=a8b; TP=4; if [[ $M == *8b ]]; then TP=8; fi",
        "TP=4; read PP <<< 7\ncat > /dev/null <<EOF\nTP=8\nEOF\n",
    };
    const size_t count = sizeof scripts / sizeof *scripts;
    static char theirs[CASES][64];
    ck_assert_uint_le(count, CASES);
    ask_bash(scripts, count, theirs);
    for (size_t i = 0; i < count; i++) {
        char ours[64];
        int lines[2];
        ask(scripts[i], ours, lines);
        ck_assert_msg(strcmp(ours, theirs[i]) == 0, "%s: bash has %s, calc %s", scripts[i],
                      theirs[i], ours);
    }
}

CALC_TEST(what_depends_on_what_runs_is_not_known)
{
    static const struct {
        const char *script;
        int lines[2]; /* those that set it, the last one first */
    } unknown[] = {
        {"TP=4; ((TP*=2))", {1, 0}},
        {"TP=4; (( TP /= 2 ))", {1, 0}},
        {"TP=4; ((TP=TP+4))", {1, 0}},
        {"TP=8; false && TP=4", {1, 1}},
        {"TP=8; true || TP=4", {1, 1}},
        {"N=16; (( N > 8 )) && TP=8 || TP=4", {1, 1}},
        {"N=8; (( N > 8 )) && TP=8 || TP=4", {1, 1}},
        {"N=4; test $N -gt 8 && TP=8; TP=${TP:-2}", {1, 0}},
        {"TP=4; if (( TP >= 4 )); then TP=8; fi", {1, 1}},
        {"TP=8\nread TP <<< 4", {2, 0}},
        {"TP=8\nprintf -v TP 4", {2, 0}},
        {"TP=8\nlet TP=4", {2, 0}},
        {"TP=8\nwhile read -r x; do TP=4; done </dev/null", {2, 1}},
        {"TP=8\nwhile getopts x o; do\n TP=4; done", {3, 1}},
        {"for TP in 2 4; do :; done", {1, 0}},
        {"TP=1\nfor i in 1 2; do TP=$((TP*2)); done", {2, 1}},
        {"TP=4\n[ -d /nowhere ] && TP=8", {2, 1}},
        {"TP=4\ngrep -q x /dev/null || TP=8", {2, 1}},
        {"TP=4\nif $X; then TP=8; fi 2>/dev/null\nTP=${TP:-2}", {2, 1}},
        {"TP=4\nif [ 1 = 1 ] && [ $X = 2 ]; then TP=8; fi 2>/dev/null", {2, 1}},
        {"TP=4; true && { TP=8; }", {1, 1}},
        {"TP=4; { TP=8; }", {1, 1}},
        {"TP=4; { TP=8; } | cat", {1, 1}},
        {"TP=4; for i in 1; do TP=8; done | cat", {1, 1}},
        {"TP=4; f() { TP=$1; }; X=2; f $X", {1, 0}},
        {"M=a8b; TP=4; if [[ $M == \"*8b\" ]]; then TP=8; fi", {1, 1}},
        {"TP=4; case a in a) TP=8;;& *) TP=2;; esac", {1, 1}},
        {"A=\"1 \"; TP=4; if [ $A = 1 ]; then TP=8; fi", {1, 1}},
        {"TP=$((010*16))", {0, 0}},
        {"f() { local -n r=$1; r=8; }; TP=2; f TP", {0, 0}},
        {"cat <<A1 <<B1 >/dev/null\nTP=1\nA1\nTP=2\nB1\nTP=4", {0, 0}},
        {"TP=4; g() { TP=$2; }; f() { g x $1; }; f 2", {1, 0}},
        {"TP=4; f() { TP=${2:-8}; }; f $X 2", {1, 0}},
        {"f() { while true; do shift; break; done; TP=${1:-8}; }; f 4 2", {1, 1}},
        {"set -- 4 2; TP=${1:-8}", {1, 0}},
        {"TP=1; cd /tmp && TP=2", {1, 1}},
        {"TP=4; eval \"TP=8\"", {1, 0}},
        {"TP=4; case $(date) in x) TP=8;; *) TP=2;; esac", {1, 1}},
        {"TP=4; if false; then :; else TP=2; fi", {1, 1}},
        {"f() { [ \"$1\" = a ] && TP=2; }; TP=4; f b", {1, 1}},
        {"TP=4; true&&TP=8", {1, 1}},
        {"TP=4;false||TP=8", {1, 1}},
        {"TP=1; while true; do TP=2; break; done", {1, 1}},
        {"TP=4; let \"TP = 8\"", {1, 0}},
        {"f() { TP=2; }; TP=1; if f; then :; fi", {1, 1}},
        {"TP=4; mapfile -t TP < /dev/null", {1, 0}},
        {"TP=4; IFS=, read -r TP PP <<< 8,2", {1, 0}},
        {"TP=4; [[ $TP == 4 ]] && TP=8", {1, 1}},
        {"TP=4; until true; do TP=8; done", {1, 1}},
        {"TP=4; [ $X = 3 ] && A=2; if [ \"$A\" = 2 ]; then TP=8; fi", {1, 1}},
    };
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        char value[64];
        int lines[2];
        ask(unknown[i].script, value, lines);
        ck_assert_msg(strchr(value, '$') && lines[0] == unknown[i].lines[0] &&
                          lines[1] == unknown[i].lines[1],
                      "%s: %s, lines %d and %d", unknown[i].script, value, lines[0], lines[1]);
    }
}

CALC_TEST(a_function_has_its_arguments_and_the_variables_of_its_call)
{
    static const char script[] = "TP=2\nrun() { torchrun pretrain.py --tp $TP --b 1 \"$@\"; }\n"
                                 "TP=4; run --c 3 \\\n --d x";
    static const char *const expected[][2] = {
        {"--tp", "4"}, {"--b", "1"}, {"--c", "3"}, {"--d", "x"}};
    calc_settings settings = {0};
    ck_assert_int_eq(calc_settings_from_script(&settings, script, strlen(script), NULL), CALC_OK);
    ck_assert_uint_eq(settings.count, 4);
    for (size_t i = 0; i < 4; i++) {
        ck_assert_str_eq(settings.item[i].key, expected[i][0]);
        ck_assert_str_eq(settings.item[i].value, expected[i][1]);
        ck_assert_int_eq(settings.item[i].line, 2);
    }
    ck_assert_int_eq(settings.item[0].column, 30);
    calc_settings_free(&settings);
}

/* What bash does not give to the command is said in a setting of its own. */
CALC_TEST(options_behind_the_end_of_a_command_are_not_of_it)
{
    static const char *const scripts[] = {
        "torchrun pretrain.py --a 4 \\\n # --c 2 \\\n  --b 2",
        "torchrun pretrain.py --a 4 \\ \n  --b 2 \\\n --d 1",
        "torchrun pretrain.py --a 4\n--b 2",
    };
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        calc_settings settings = {0};
        ck_assert_int_eq(calc_settings_from_script(&settings, scripts[i], strlen(scripts[i]), NULL),
                         CALC_OK);
        ck_assert_uint_eq(settings.count, 2);
        ck_assert_str_eq(settings.item[0].key, "--a");
        ck_assert_str_eq(settings.item[1].key, i == 0 ? "line 3" : "line 2");
        calc_settings_free(&settings);
    }
}

/* What a command has of lists, whose words are read where they stand: options with a value, and
 * "$..." for words that are not known. */
CALC_TEST(lists_are_what_bash_makes_of_them)
{
    static const struct {
        const char *script, *has; /* keys and values of the command */
    } lists[] = {
        {"A=(--a 4); A=(); torchrun x.py --b 1 \"${A[@]}\"", "--b 1 "},
        {"A=(--a 4); A=(--a 8); torchrun x.py \"${A[@]}\"", "--a 8 "},
        {"A=\"--a 4\"; A=\"--b 8\"; torchrun x.py $A", "--b 8 "},
        {"A=(--a 4 --b 2); [ -d /x ] || A=(--a 2); torchrun x.py \"${A[@]}\"",
         "--a $A --b $A --a 2 "},
        {"A=(--a 4); A[1]=8; torchrun x.py \"${A[@]}\"", "--a $A ${A[@]} ${A[@]} "},
        {"A=(--a 4 --b 2); torchrun x.py --c 1 ${A[@]:0:2}", "--c 1 ${A[@]:0:2} ${A[@]:0:2} "},
        {"A=(--a 4); ( A+=(--b 1); true ); torchrun x.py \"${A[@]}\"", "--a 4 "},
        {"A=\"--a 4\"; f() { local A=\"$A --b 1\"; }; f; torchrun x.py $A", "--a 4 "},
        {"A=(--a 4); f() { A+=(--b 1); }; f; torchrun x.py \"${A[@]}\"", "--a 4 --b 1 "},
        {"A=\"--a 4\"; f() { A=\"$A $1\"; }; f \"--b 1\"; torchrun x.py $A", "--a 4 --b 1 "},
        {"A=(); for f in b; do A+=($f); done; torchrun x.py --a 1 \"${A[@]}\"", "$f $f --a 1 "},
        {"for f in b; do A+=\" --$f 1\"; done; torchrun x.py --a 1 $A", "--a 1 --$f 1 "},
        {"torchrun x.py --a 1 $(gen)", "--a 1 $(gen) $(gen) "},
        {"TP=4; bash -c \"TP=8; torchrun x.py --a \\$TP\"", "--a 8 "},
        {"TP=2; TP=8 bash -c 'torchrun x.py --a $TP'", "--a 8 "},
        {"TP=2; env TP=8 bash -c 'torchrun x.py --a $TP'", "--a 8 "},
        {"TP=4; bash -c 'torchrun x.py --a ${TP:-8}'", "--a ${TP:-8} "},
        {"export TP=4; bash -c 'torchrun x.py --a ${TP:-8}'", "--a 4 "},
        {"TP=2\nbash <<EOF\nTP=8\ntorchrun x.py --a $TP\nEOF", "--a 2 "},
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        calc_settings settings = {0};
        char found[400] = "";
        const char *text = lists[i].script;
        ck_assert_int_eq(calc_settings_from_script(&settings, text, strlen(text), NULL), CALC_OK);
        uint64_t last = settings.commands > 0 ? 0 : UINT64_MAX;
        for (size_t k = 0; k < settings.commands; k++) {
            last |= settings.command[k].line > 0 ? UINT64_C(1) << k : 0;
        }
        for (size_t k = 0; k < settings.count; k++) {
            const calc_setting *item = &settings.item[k];
            if (item->commands & last) {
                snprintf(found + strlen(found), sizeof found - strlen(found), "%s %s ", item->key,
                         item->value);
            }
        }
        ck_assert_msg(strcmp(found, lists[i].has) == 0, "%s: %s", text, found);
        calc_settings_free(&settings);
    }
}

/* More than is kept: no variable is known then. */
CALC_TEST(variables_beyond_the_limit_are_not_known)
{
    static char script[32768] = "TP=4\n";
    for (int i = 0; i < 1100; i++) {
        snprintf(script + strlen(script), 32, "V%d=1\n", i);
    }
    char value[64];
    int lines[2];
    strcat(script, "torchrun pretrain.py --a $TP");
    calc_settings settings = {0};
    ck_assert_int_eq(calc_settings_from_script(&settings, script, strlen(script), NULL), CALC_OK);
    ck_assert_str_eq(calc_settings_last(&settings, "--a")->value, "$TP");
    calc_settings_free(&settings);
    ask("TP=4; f() { f; }; f", value, lines); /* a function that calls itself */
    ck_assert_str_eq(value, "${TP}");
}
