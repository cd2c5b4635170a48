#include "checkers/formats/history_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace falafel::checkers::formats {

namespace {

constexpr std::size_t moment_width = 60;  // pixels between one call or return and the next
constexpr std::size_t row_height = 34;
constexpr std::size_t bar_height = 26;
constexpr std::size_t label_width = 90;

constexpr std::string_view head = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{0}</title>
<style>
body {{ font: 14px system-ui, sans-serif; margin: 24px; color: #222; background: #fff; }}
.scroll {{ overflow-x: auto; border: 1px solid #ccc; }}
text {{ font: 12px ui-monospace, monospace; }}
.ordered rect {{ fill: #cfe8cf; stroke: #3a7a3a; }}
.unfitting rect {{ fill: #f6c6c2; stroke: #b3261e; stroke-width: 2; }}
.other rect {{ fill: #eee; stroke: #888; }}
.unanswered rect {{ stroke-dasharray: 4 3; }}
.lane {{ stroke: #ddd; }}
pre {{ background: #f6f6f6; padding: 12px; overflow-x: auto; }}
</style></head><body>
<h1>{0}</h1>
<p>{1}: <strong>{2}</strong>, {3} operations. Time runs to the right, one step for each call and
return. A number is the operation's position in the longest order that fits. Red operations cannot
come next. A dashed operation has no answer.</p>
)";

std::string escaped(std::string_view text) {
  std::string result;
  for (const char character : text) {
    switch (character) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      default: result += character; break;
    }
  }
  return result;
}

class Drawing {
 public:
  explicit Drawing(const JudgedHistory& history) : history_(history) {
    for (const JudgedOperation& operation : history.operations) {
      moments_.emplace(operation.call_time, 0);
      if (operation.return_time) moments_.emplace(*operation.return_time, 0);
    }
    std::size_t count = 0;
    for (auto& [time, number] : moments_) number = count++;
    assign_rows();
    number_order();
  }

  std::string svg() const {
    const std::size_t width = label_width + (moments_.size() + 1) * moment_width;
    std::string text = fmt::format("<div class=\"scroll\"><svg width=\"{}\" height=\"{}\">\n",
                                   width, row_height * rows_.size() + 8);
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      const std::size_t y = row_height * row + bar_height;
      fmt::format_to(std::back_inserter(text),
                     "<text x=\"4\" y=\"{}\">client {}</text>"
                     "<line class=\"lane\" x1=\"0\" x2=\"{}\" y1=\"{}\" y2=\"{}\"/>\n",
                     y - 4, rows_[row].client, width, y + 10, y + 10);
    }
    for (std::size_t position = 0; position < history_.operations.size(); ++position) {
      text += bar(position);
    }
    return text + "</svg></div>\n";
  }

 private:
  // Operations of one client that overlap are drawn in several rows.
  struct Row {
    std::uint32_t client;
    std::size_t end = 0;  // the first moment that is free
  };

  std::size_t begin_of(const JudgedOperation& operation) const {
    return moments_.at(operation.call_time);
  }
  std::size_t end_of(const JudgedOperation& operation) const {
    return operation.return_time ? moments_.at(*operation.return_time) : moments_.size();
  }

  void assign_rows() {
    row_of_.resize(history_.operations.size());
    std::vector<std::size_t> by_client(history_.operations.size());
    for (std::size_t index = 0; index < by_client.size(); ++index) by_client[index] = index;
    std::ranges::stable_sort(by_client, {}, [&](std::size_t position) {
      const JudgedOperation& operation = history_.operations[position];
      return std::pair(operation.client, operation.call_time);
    });
    for (const std::size_t position : by_client) {
      const JudgedOperation& operation = history_.operations[position];
      auto row = std::ranges::find_if(rows_, [&](const Row& candidate) {
        return candidate.client == operation.client && candidate.end <= begin_of(operation);
      });
      if (row == rows_.end()) row = rows_.insert(rows_.end(), {.client = operation.client});
      row->end = end_of(operation);
      row_of_[position] = static_cast<std::size_t>(row - rows_.begin());
    }
  }

  void number_order() {
    const std::vector<std::size_t>& order = history_.report.longest_prefix;
    for (std::size_t index = 0; index < order.size(); ++index) order_of_[order[index]] = index + 1;
  }

  std::string bar(std::size_t position) const {
    const JudgedOperation& operation = history_.operations[position];
    const auto& unfitting = history_.report.unfitting;
    const auto order = order_of_.find(position);
    const bool is_unfitting = std::ranges::find(unfitting, position) != unfitting.end();
    const std::string_view kind = is_unfitting               ? "unfitting"
                                  : order != order_of_.end() ? "ordered"
                                                             : "other";
    const std::size_t x = label_width + begin_of(operation) * moment_width;
    const std::size_t y = row_height * row_of_[position] + 4;
    const std::size_t width =
        std::max<std::size_t>((end_of(operation) - begin_of(operation)) * moment_width, 16) - 6;
    const std::string number =
        order != order_of_.end() ? fmt::format("{}. ", order->second) : std::string();
    const std::string times =
        operation.return_time
            ? fmt::format("call {}, return {}", operation.call_time, *operation.return_time)
            : fmt::format("call {}, no return", operation.call_time);
    return fmt::format(
        "<g class=\"{}{}\"><title>client {}: {} ({})</title><rect x=\"{}\" y=\"{}\" width=\"{}\" "
        "height=\"{}\" rx=\"3\"/><text x=\"{}\" y=\"{}\">{}{}</text></g>\n",
        kind, operation.return_time ? "" : " unanswered", operation.client, escaped(operation.text),
        times, x, y, width, bar_height, x + 4, y + 17, number, escaped(operation.text));
  }

  const JudgedHistory& history_;
  std::map<std::uint64_t, std::size_t> moments_;  // by time: counted from 0
  std::vector<Row> rows_;
  std::vector<std::size_t> row_of_;              // by position
  std::map<std::size_t, std::size_t> order_of_;  // by position: counted from 1
};

}  // namespace

std::string history_page(const std::string& title, const JudgedHistory& history) {
  const Judgement& judgement = history.report.judgement;
  return fmt::format(head, escaped(title), escaped(history.specification),
                     escaped(to_string(judgement.verdict)), history.operations.size()) +
         Drawing(history).svg() + "<pre>" + escaped(judgement.explanation) + "</pre>\n" +
         "</body></html>\n";
}

}  // namespace falafel::checkers::formats
