// Objects of the contract that a program hands to the simulator: they must be the simulator's own.
#pragma once

#include <type_traits>
#include <typeinfo>

namespace falafel::sim {

// The object as one of this class. Null if there is none, or if it is of another fabric. Nothing
// derives from the class, so comparing types suffices, and no bases are searched.
template <typename Own, typename Contract>
Own* as_own(Contract* object) {
  static_assert(std::is_final_v<Own>);
  return object != nullptr && typeid(*object) == typeid(Own) ? static_cast<Own*>(object) : nullptr;
}

}  // namespace falafel::sim
