#include "checkers/formats/edn.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace falafel::checkers::formats {

tl::expected<EdnMap, std::string> parse_edn_map(std::string_view line) {
  try {
    EdnMap map;
    std::optional<EdnValue> value = EdnReader(line, "line").read_only_map();
    if (!value) return map;
    for (std::size_t index = 0; index + 1 < value->items.size(); index += 2) {
      map.emplace(value->items[index].text, std::move(value->items[index + 1]));
    }
    return map;
  } catch (const EdnError& error) {
    return tl::unexpected(fmt::format("column {}: {}", error.position + 1, error.what()));
  }
}

}  // namespace falafel::checkers::formats
