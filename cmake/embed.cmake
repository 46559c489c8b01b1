# Write files as byte arrays: definitions of TYPE PREFIX<name> = {bytes, length} that HEADER declares.
#   cmake -DOUT=page_data.c -DHEADER=report/page.h -DTYPE=calc_page_data -DPREFIX=calc_page_
#       -DFILES=name=path,name=path,... -P embed.cmake
# A path that is empty gives an empty array. With -DLIST=name they are instead elements {name, bytes} of TYPE name_list[], and the
# beginnings of their names, up to "_", are const char *const name_names[].
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
    string(MAKE_C_IDENTIFIER "${name}_bytes" array)
    string(APPEND text "static const unsigned char ${array}[] = {${bytes}0};\n")
    if(LIST)
        string(APPEND list "    {\"${name}\", (const char *)${array}},\n")
        string(REGEX MATCH "^[^_]*" kind "${name}")
        list(APPEND kinds "\"${kind}\",")
    else()
        string(APPEND text "const ${TYPE} ${PREFIX}${name} = {(const char *)${array}, sizeof ${array} - 1};\n")
    endif()
endforeach()
if(LIST)
    list(REMOVE_DUPLICATES kinds)
    list(JOIN kinds " " kinds)
    string(APPEND text "const ${TYPE} ${LIST}_list[] = {\n${list}    {0}};\n"
        "const char *const ${LIST}_names[] = {${kinds} 0};\n")
endif()
file(WRITE "${OUT}" "${text}")
