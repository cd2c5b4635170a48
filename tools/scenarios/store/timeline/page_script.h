// The scripts of page/ combined into one (embed_script.cmake). They show the memory of the store.
#pragma once

#include <string_view>

namespace falafel::store_scenario {

std::string_view page_script();

}  // namespace falafel::store_scenario
