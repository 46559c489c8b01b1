/* That look for layouts, measure, and do as other planners do. */
#include "commands.h"

COMMANDS("check_commands_search.txt", true);
