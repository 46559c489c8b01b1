/* That read what others have written, and the corpora of the fuzz targets. */
#include "commands.h"

COMMANDS("check_commands_import.txt", false);
