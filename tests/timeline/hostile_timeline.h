// Keys and values that a page must treat as plain bytes.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "explorer/timeline/readable.h"
#include "explorer/timeline/timeline.h"
#include "tools/scenarios/store/timeline/store_memory.h"

namespace falafel::timeline {

inline std::array<std::string, 7> hostile_texts() {
  return {"</script><script>window.taken = true</script>", "<!--<script>",
          "<img src=x onerror=\"window.taken = true\">",   "\xff\xfe\x80 no UTF-8",
          "\x1b[31m\x07 and \xe2\x80\xae turned round",    std::string(65'536, 'k'),
          "\u043a\u043b\u044e\u0447 {{timeline}} \"'\\"};
}

// A SET of each, and an entry for each.
inline Timeline hostile_timeline() {
  Timeline timeline;
  timeline.title = hostile_texts()[0];
  timeline.description = hostile_texts()[2];
  const auto part = std::make_shared<store_scenario::StoreMemory>();
  part->geometry.table_entries = hostile_texts().size();
  timeline.program_part = part;
  timeline.steps = 100;
  timeline.step_duration_ns = 100;
  timeline.lanes = {{.kind = "client", .name = "client 0", .operation_rows = 1},
                    {.kind = std::string(memory_lane), .name = "device"}};
  std::uint64_t step = 1;
  for (const std::string& text : hostile_texts()) {
    const auto number = static_cast<std::uint32_t>(timeline.operations.size());
    timeline.operations.push_back({.kind = "set",
                                   .key = readable(text),
                                   .name = "set " + readable(text),
                                   .text = "set " + readable(text),
                                   .label = "stored",
                                   .answer = "stored",
                                   .call_step = step,
                                   .return_step = step + 9});
    part->memory.containers.push_back({.key = readable(text), .value = readable(text)});
    part->memory.slots.push_back(
        {.step = step, .slot = number, .word = std::uint64_t{100} << 32U, .container = number});
    timeline.key_steps.push_back({.step = step,
                                  .role = KeyStepRole::violation,
                                  .lane = 0,
                                  .operation = number,
                                  .text = readable(text)});
    step += 10;
  }
  // Explanations of checkers are not escaped again, because checkers quote.
  timeline.violations.push_back(
      {.property = "<b>", .explanation = hostile_texts()[3] + hostile_texts()[0]});
  return timeline;
}

}  // namespace falafel::timeline
