/* That write what frameworks read, and those that they refuse. */
#include "commands.h"

COMMANDS("check_commands_export.txt", false);
