# Script (cmake -P): combines the files of page/ into one script, and writes it as a C++ source.
# -Dfolder=FOLDER -Dsource=FILE

include("${CMAKE_CURRENT_LIST_DIR}/../../../../cmake/falafel_embed_text.cmake")

set(text "")
foreach(name entries.js store_model.js store_map.js store_panels.js store_program.js)
  file(READ "${folder}/${name}" content)
  string(APPEND text "${content}")
endforeach()
falafel_embed_text("${source}" "${text}" tools/scenarios/store/timeline/page_script.h page_script
  falafel::store_scenario)
