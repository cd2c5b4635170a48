// Objects of libibverbs. Each keeps alive the object it was made from, so they are destroyed in the
// right order.
#pragma once

#include <infiniband/verbs.h>

#include <cstring>
#include <memory>
#include <string>

#include <fmt/format.h>

namespace falafel::verbs {

using ContextHandle = std::shared_ptr<ibv_context>;
using DomainHandle = std::shared_ptr<ibv_pd>;
using SharedQueueHandle = std::shared_ptr<ibv_srq>;
using ChannelHandle = std::shared_ptr<ibv_comp_channel>;

inline ContextHandle own(ibv_context* context) {
  return {context, [](ibv_context* gone) { ibv_close_device(gone); }};
}

inline DomainHandle own(ibv_pd* domain, ContextHandle context) {
  return {domain, [context = std::move(context)](ibv_pd* gone) { ibv_dealloc_pd(gone); }};
}

inline ChannelHandle own(ibv_comp_channel* channel, ContextHandle context) {
  return {channel, [context = std::move(context)](ibv_comp_channel* gone) {
            ibv_destroy_comp_channel(gone);
          }};
}

inline SharedQueueHandle own(ibv_srq* queue, DomainHandle domain) {
  return {queue, [domain = std::move(domain)](ibv_srq* gone) { ibv_destroy_srq(gone); }};
}

// The system's text for an error number.
inline std::string words_of(int error_number) {
  return fmt::format("{} (errno {})", std::strerror(error_number), error_number);
}

}  // namespace falafel::verbs
