# Write files as byte arrays: definitions of TYPE PREFIX<name> = {bytes, length} that HEADER declares.
#   cmake -DOUT=page_data.c -DHEADER=report/page.h -DTYPE=calc_page_data -DPREFIX=calc_page_
#       -DFILES=name=path,name=path,... -P embed.cmake
# A path that is empty gives an empty array.
set(text "/* Made by cmake/embed.cmake. */\n#include \"${HEADER}\"\n")
string(REPLACE "," ";" files "${FILES}")
foreach(pair IN LISTS files)
    string(REGEX MATCH "^([^=]+)=(.*)$" pair "${pair}")
    set(name "${CMAKE_MATCH_1}")
    set(path "${CMAKE_MATCH_2}")
    set(bytes "")
    if(path)
        file(READ "${path}" bytes HEX)
        string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    endif()
    string(APPEND text
        "static const unsigned char ${name}_bytes[] = {${bytes}0};\n"
        "const ${TYPE} ${PREFIX}${name} = {(const char *)${name}_bytes,"
        " sizeof ${name}_bytes - 1};\n")
endforeach()
file(WRITE "${OUT}" "${text}")
