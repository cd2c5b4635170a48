// Objects of the contract that callers hand back: are they this backend's?
#pragma once

#include <type_traits>
#include <typeinfo>

namespace falafel::sim {

// The object as what the simulator made it; null if there is none, or another fabric made it. Classes of the
// simulator that callers hold are final, so that comparing two types is enough, and cheaper than a cast
// that searches their bases.
template <typename Own, typename Interface>
Own* as_own(Interface* object) {
  static_assert(std::is_final_v<Own> && std::is_base_of_v<Interface, Own>);
  if (object == nullptr || typeid(*object) != typeid(Own)) return nullptr;
  return static_cast<Own*>(object);
}

}  // namespace falafel::sim
