// Texts as keys and values.
#pragma once

#include "tests/stores/bytes.h"

namespace falafel::nessie_test {

using stores_test::Bytes;
using stores_test::bytes_of;
using stores_test::text_of;

}  // namespace falafel::nessie_test
