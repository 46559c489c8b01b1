#include "formats/launcher.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "formats/write.h"
#include "io/text.h"

static const struct {
    const char *name;
    const calc_unread_keys *text;
} templates[] = {{"slurm_train", &calc_launcher_slurm_train},
                 {"slurm_vllm", &calc_launcher_slurm_vllm},
                 {"slurm_sglang", &calc_launcher_slurm_sglang},
                 {"kubernetes_train", &calc_launcher_kubernetes_train},
                 {"kubernetes_vllm", &calc_launcher_kubernetes_vllm},
                 {"kubernetes_sglang", &calc_launcher_kubernetes_sglang}};

calc_status calc_launcher_write(calc_output *out, const calc_framework *framework,
                                const char *launcher, const calc_exec *exec,
                                const calc_settings *settings, int64_t node_procs,
                                calc_errors *errors)
{
    char name[64];
    const char *line = NULL;
    snprintf(name, sizeof name, "%s_%s", launcher, framework->serves ? framework->name : "train");
    for (size_t i = 0; i < sizeof templates / sizeof *templates; i++) {
        line = strcmp(templates[i].name, name) == 0 ? templates[i].text->text : line;
    }
    int64_t each = exec->num_procs < node_procs ? exec->num_procs : node_procs;
    int64_t nodes = exec->num_procs / each;
    bool replicas = framework->serves && nodes > 1 && exec->strategy.data_par > 1;
    if (framework->syntax != CALC_SYNTAX_SHELL || !line || replicas ||
        calc_framework_has_pools(framework, exec)) {
        return calc_errors_add(
            errors, CALC_ERR_UNSUPPORTED, CALC_KIND_NONE, NULL, framework->launch,
            "--launcher: no single script of %s starts this layout", framework->title);
    }
    if (nodes * each != exec->num_procs) {
        return calc_errors_add(errors, CALC_ERR_RULE, CALC_KIND_NONE, NULL, "--per-node N",
                               "--launcher: %" PRId64 " processors are no whole nodes of %" PRId64,
                               exec->num_procs, node_procs);
    }
    calc_text script = {0};
    calc_output *memory;
    calc_status status = calc_output_open_memory(&memory, &script, errors);
    if (status == CALC_OK) {
        calc_settings_write(memory, framework, settings);
        status = calc_output_close(memory, errors);
    }
    bool nvidia = (framework->platforms & CALC_ON(CUDA)) != 0;
    char text[3][24];
    snprintf(text[0], sizeof text[0], "%" PRId64, nodes);
    snprintf(text[1], sizeof text[1], "%" PRId64, nodes - 1);
    snprintf(text[2], sizeof text[2], "%" PRId64, each);
    const char *const words[][2] = {
        {"@NODES@", text[0]},
        {"@OTHERS@", text[1]},
        {"@PER_NODE@", text[2]},
        {"@NAME@", framework->name},
        {"@TITLE@", framework->title},
        {"@RESOURCE@", nvidia ? "nvidia.com/gpu" : "huawei.com/Ascend910"},
        {nodes > 1 ? "@MANY@" : "@ONE@", ""},
        {"@SCRIPT@", ""}};
    enum { WORDS = sizeof words / sizeof *words, SCRIPT = WORDS - 1 };
    const char *other = nodes > 1 ? "@ONE@" : "@MANY@";
    for (const char *next; status == CALC_OK && *line; line = next) {
        next = line + strcspn(line, "\n");
        next += *next == '\n';
        bool skipped = strncmp(line, other, strlen(other)) == 0;
        for (const char *at = skipped ? next : line; at < next; at++) {
            size_t i = 0;
            while (i < WORDS && strncmp(at, words[i][0], strlen(words[i][0])) != 0) {
                i++;
            }
            const char *word = i < WORDS ? words[i][1] : at;
            calc_output_write(out, word, i < WORDS ? strlen(word) : 1);
            /* The script in lines that are indented as its place is, without its last line break.
             */
            for (const char *c = i == SCRIPT ? script.data : ""; *c; c++) {
                bool breaks = *c == '\n' && c[1] && c[1] != '\n';
                calc_output_write(out, c, *c != '\n' || c[1]);
                calc_output_printf(out, "%*s", breaks ? (int)(at - line) : 0, "");
            }
            at += i < WORDS ? strlen(words[i][0]) - 1 : 0;
        }
    }
    calc_text_free(&script);
    return status;
}
