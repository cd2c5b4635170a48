#include "checkers/formats/loaded_value.h"

#include <cstdint>
#include <limits>
#include <utility>

namespace falafel::checkers::formats {

namespace {

using nlohmann::json;

falafel_value_type type_of(const json& value) {
  switch (value.type()) {
    case json::value_t::boolean: return FALAFEL_VALUE_BOOLEAN;
    case json::value_t::string: return FALAFEL_VALUE_TEXT;
    case json::value_t::array: return FALAFEL_VALUE_ARRAY;
    case json::value_t::object: return FALAFEL_VALUE_OBJECT;
    case json::value_t::number_integer: return FALAFEL_VALUE_INTEGER;
    case json::value_t::number_unsigned: {
      constexpr auto largest = std::uint64_t{std::numeric_limits<std::int64_t>::max()};
      return value.get<std::uint64_t>() <= largest ? FALAFEL_VALUE_INTEGER : FALAFEL_VALUE_NUMBER;
    }
    case json::value_t::number_float: return FALAFEL_VALUE_NUMBER;
    default: return FALAFEL_VALUE_NULL;
  }
}

}  // namespace

falafel_value LoadedValue::convert(const json& value, const char* name) {
  falafel_value converted{};
  converted.type = type_of(value);
  converted.name = name;
  const std::string& text = keep(value.dump(-1, ' ', false, json::error_handler_t::replace));
  converted.json = text.c_str();
  converted.json_bytes = text.size();
  if (converted.type == FALAFEL_VALUE_BOOLEAN) converted.integer = value.get<bool>() ? 1 : 0;
  if (converted.type == FALAFEL_VALUE_INTEGER) converted.integer = value.get<std::int64_t>();
  if (converted.type == FALAFEL_VALUE_TEXT) {
    const std::string& characters = keep(value.get<std::string>());
    converted.text = characters.c_str();
    converted.text_bytes = characters.size();
  }
  if (value.is_structured()) convert_elements(value, converted);
  return converted;
}

void LoadedValue::convert_elements(const json& value, falafel_value& converted) {
  std::vector<falafel_value> elements;
  for (const auto& [name, element] : value.items()) {
    elements.push_back(convert(element, value.is_object() ? keep(name).c_str() : nullptr));
  }
  const std::vector<falafel_value>& kept = elements_.emplace_back(std::move(elements));
  converted.elements = kept.data();
  converted.count = kept.size();
}

}  // namespace falafel::checkers::formats
