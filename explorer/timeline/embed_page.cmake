# Script (cmake -P): inserts the style sheet and the scripts that page/page.html names, and writes
# the page as a C++ source. -Dpage=FILE -Dsource=FILE

include("${CMAKE_CURRENT_LIST_DIR}/../../cmake/falafel_embed_text.cmake")

get_filename_component(folder "${page}" DIRECTORY)
file(READ "${page}" text)

string(REGEX MATCHALL "<link rel=\"stylesheet\" href=\"[^\"]+\">" links "${text}")
foreach(link IN LISTS links)
  string(REGEX REPLACE ".*href=\"([^\"]+)\".*" "\\1" name "${link}")
  file(READ "${folder}/${name}" content)
  string(REPLACE "${link}" "<style>\n${content}</style>" text "${text}")
endforeach()

string(REGEX MATCHALL "<script src=\"[^\"]+\"></script>" scripts "${text}")
foreach(script IN LISTS scripts)
  string(REGEX REPLACE ".*src=\"([^\"]+)\".*" "\\1" name "${script}")
  file(READ "${folder}/${name}" content)
  string(REPLACE "${script}" "<script>\n${content}</script>" text "${text}")
endforeach()

falafel_embed_text(
  "${source}" "${text}" explorer/timeline/page_template.h page_template falafel::timeline)
