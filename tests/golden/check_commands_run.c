/* That show one layout, or what calc knows. */
#include "commands.h"

COMMANDS("check_commands_run.txt", true);
