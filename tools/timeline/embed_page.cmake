# Script (cmake -P): inserts the style sheet and the scripts that page/page.html names, and writes
# the page as a C++ source. -Dpage=FILE -Dsource=FILE

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

# Writes bytes, because compilers limit the length of string literals.
file(WRITE "${source}.page" "${text}")
file(READ "${source}.page" bytes HEX)
file(REMOVE "${source}.page")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE "${source}" "// Generated from the files in tools/timeline/page by embed_page.cmake.
#include \"tools/timeline/page_template.h\"

namespace falafel::timeline {
namespace {

constexpr unsigned char bytes[] = {${bytes}};

}  // namespace

std::string_view page_template() {
  return {reinterpret_cast<const char*>(bytes), sizeof bytes};
}

}  // namespace falafel::timeline
")
