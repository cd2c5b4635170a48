// The lines of the command `stats`.
#pragma once

#include <string>
#include <string_view>

#include "tools/server/memcached_front/statistics.h"

namespace falafel::memcached_front {

void append_statistics(std::string& text, const Statistics& statistics, std::string_view version);
void append_settings(std::string& text, const Statistics& statistics);

}  // namespace falafel::memcached_front
