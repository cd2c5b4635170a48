# Script (cmake -P): writes the list of figures as a C++ source. -Dlist=FILE -Dsource=FILE

include("${CMAKE_CURRENT_LIST_DIR}/../../../cmake/falafel_embed_text.cmake")

file(READ "${list}" text)
falafel_embed_text("${source}" "${text}" tools/benchmarks/figures/figure_list.h figure_list_text
  falafel::figures)
