// The session that an operation uses, and the batch that it belongs to, if any.
#pragma once

#include <memory>

#include "engine/client/gathering.h"
#include "engine/client/session.h"

namespace falafel::engine {

struct OperationContext {
  std::shared_ptr<Session> session;
  std::shared_ptr<Gathering> gathering{};  // null: the operation is in no batch
};

}  // namespace falafel::engine
