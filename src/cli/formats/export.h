/** @file export.h  What `calc export` writes for others: the table of a framework's keys. */
#ifndef CALC_CLI_FORMATS_EXPORT_H
#define CALC_CLI_FORMATS_EXPORT_H

#include "cli/shell/opt.h"
#include "formats/framework.h"

/** Writes the keys and the fields that they stand for, as Markdown.
 *  @param framework  NULL: complains that there is no table
 *  @param path       NULL: standard output */
calc_exit calc_keys_list(const calc_args *args, const calc_framework *framework, const char *path);

#endif
