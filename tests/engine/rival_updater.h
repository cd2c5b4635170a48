// An updater of entries with a rival, which is called just before each update.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "engine/server/entry_updater.h"

namespace falafel::engine_test {

class RivalUpdater : public engine::EntryUpdater {
 public:
  using Rival = std::function<void(const engine::EntryUpdate&)>;
  explicit RivalUpdater(std::unique_ptr<engine::EntryUpdater> updater)
      : updater_(std::move(updater)) {}

  void set_rival(Rival rival) { rival_ = std::move(rival); }

  bool is_full() const override { return updater_->is_full(); }
  void submit(const engine::EntryUpdate& update) override {
    if (rival_) rival_(update);
    updater_->submit(update);
  }
  std::optional<engine::UpdateOutcome> next() override { return updater_->next(); }

 private:
  std::unique_ptr<engine::EntryUpdater> updater_;
  Rival rival_;
};

}  // namespace falafel::engine_test
