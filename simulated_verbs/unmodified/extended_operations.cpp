// The functions that programs find in extended objects (FALAFEL_QUEUE_CALLS, FALAFEL_BATCH_CALLS).
// The objects of a program have the addresses of the process there, so these take the simulator's
// from objects that no program sees.
#include <infiniband/verbs.h>

#include <cstdint>

#include "simulated_verbs/extended_functions.h"
#include "simulated_verbs/unmodified/calls.h"

namespace falafel::simulated_verbs {

namespace {

using Word = std::uint64_t;
using AnyFunction = void (*)();
using Function = Word (*)(Word, Word, Word, Word, Word, Word);

struct ExtendedObjects {
  ExtendedObjects() {
    set_functions(queue, ~std::uint64_t{0});
    set_operations(queue_pair, ~std::uint64_t{0});
  }
  ibv_cq_ex queue{};
  ibv_qp_ex queue_pair{};
};

const ExtendedObjects& extended_objects() {
  static const ExtendedObjects objects;
  return objects;
}

}  // namespace
}  // namespace falafel::simulated_verbs

using falafel::simulated_verbs::AnyFunction;
using falafel::simulated_verbs::extended_objects;
using falafel::simulated_verbs::Function;
using falafel::simulated_verbs::Word;

extern "C" {

#define FALAFEL_CARRY_OUT(name, object, member)                                                    \
  Word name(Word first, Word second, Word third, Word fourth, Word fifth, Word sixth);             \
  Word name(Word first, Word second, Word third, Word fourth, Word fifth, Word sixth) {            \
    const auto function = reinterpret_cast<AnyFunction>(extended_objects().object.member);         \
    return reinterpret_cast<Function>(function)(first, second, third, fourth, fifth, sixth);       \
  }
#define FALAFEL_CARRY_OUT_FOR_QUEUE(name, member) FALAFEL_CARRY_OUT(name, queue, member)
#define FALAFEL_CARRY_OUT_FOR_BATCH(name, member) FALAFEL_CARRY_OUT(name, queue_pair, member)

FALAFEL_QUEUE_CALLS(FALAFEL_CARRY_OUT_FOR_QUEUE)
FALAFEL_BATCH_CALLS(FALAFEL_CARRY_OUT_FOR_BATCH)

}  // extern "C"
