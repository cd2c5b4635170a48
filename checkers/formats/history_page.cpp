#include "checkers/formats/history_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "checkers/formats/messages.h"
#include "checkers/html_text.h"

namespace falafel::checkers::formats {

namespace {

constexpr std::size_t shortest_step = 16;  // pixels between one call or return and the next
constexpr std::size_t row_height = 34;
constexpr std::size_t bar_height = 26;
constexpr std::size_t bar_gap = 6;
constexpr std::size_t text_margin = 6;
constexpr std::size_t letter_width = 8;          // at least that of the fonts, which have one width
constexpr std::size_t longest_label_bytes = 32;  // without its number; the pointer shows the rest

// The page begins at the operation that does not fit.
constexpr std::string_view head = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>{0}</title>
<style>
:root {{
  color-scheme: light dark;
  --background: #fff; --panel: #f6f7f9; --border: #d8dde5; --text: #1a2230; --lane: #e6e9ef;
  --fits: #dcf1e5; --fits-border: #16825a; --wrong: #f9d3d6; --wrong-border: #d0213a;
  --other: #eceff3; --other-border: #8a93a3;
}}
@media (prefers-color-scheme: dark) {{ :root {{
  --background: #12161d; --panel: #1a2029; --border: #313a47; --text: #e4e9f1; --lane: #262e3a;
  --fits: #1d3d2e; --fits-border: #3aae7f; --wrong: #5a2029; --wrong-border: #ff5c70;
  --other: #262e3a; --other-border: #7d8797;
}} }}
body {{ font: 14px/1.45 system-ui, sans-serif; margin: 24px; color: var(--text);
  background: var(--background); }}
h1 {{ font-size: 20px; overflow-wrap: anywhere; }}
p {{ max-width: 75ch; }}
.history {{ display: flex; border: 1px solid var(--border); border-radius: 5px; }}
.history svg {{ display: block; }}
.clients {{ flex: none; background: var(--panel); border-right: 1px solid var(--border); }}
.scroll {{ overflow-x: auto; }}
text {{ font: 12px ui-monospace, "DejaVu Sans Mono", monospace; fill: var(--text); }}
.ordered rect {{ fill: var(--fits); stroke: var(--fits-border); }}
.unfitting rect {{ fill: var(--wrong); stroke: var(--wrong-border); stroke-width: 2; }}
.other rect {{ fill: var(--other); stroke: var(--other-border); }}
.unanswered rect {{ stroke-dasharray: 4 3; }}
.lane {{ stroke: var(--lane); }}
pre {{ background: var(--panel); border: 1px solid var(--border); border-radius: 5px;
  padding: 12px; white-space: pre-wrap; overflow-wrap: anywhere; }}
</style></head><body>
<h1>{0}</h1>
<p>{1}, {3} operations: <strong>linearizability {2}</strong>. Time runs to the right, one step for
each call and return. A number is the operation's position in the longest order that fits. Red
operations cannot come next. A dashed operation has no answer.</p>
)";

constexpr std::string_view tail = R"(<script>
document.querySelector(".unfitting")?.scrollIntoView({block: "nearest", inline: "center"});
</script>
</body></html>
)";

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
    write_labels();
    place_moments();
  }

  std::string html() const {
    return "<div class=\"history\">\n" + clients() + operations() + "</div>\n";
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
    if (!operation.return_time) return moments_.size();
    return std::max(moments_.at(*operation.return_time), begin_of(operation) + 1);
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

  // The names of the rows. A client with several rows is named once.
  std::string clients() const {
    std::string names;
    std::size_t letters = 0;
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      if (row > 0 && rows_[row - 1].client == rows_[row].client) continue;
      const std::string name = fmt::format("client {}", rows_[row].client);
      letters = std::max(letters, name.size());
      names += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", text_margin,
                           row_height * row + 21, name);
    }
    return fmt::format("<svg class=\"clients\" width=\"{}\" height=\"{}\">\n{}</svg>\n",
                       letters * letter_width + 2 * text_margin, height(), names);
  }

  std::string operations() const {
    const std::size_t width = place_of_.back() + text_margin;
    std::string text =
        fmt::format("<div class=\"scroll\"><svg width=\"{}\" height=\"{}\">\n", width, height());
    for (std::size_t row = 1; row < rows_.size(); ++row) {
      text += fmt::format("<line class=\"lane\" x1=\"0\" x2=\"{0}\" y1=\"{1}\" y2=\"{1}\"/>\n",
                          width, row_height * row);
    }
    for (std::size_t position = 0; position < history_.operations.size(); ++position) {
      text += bar(position);
    }
    return text + "</svg></div>\n";
  }

  std::size_t height() const { return row_height * rows_.size(); }

  // Each operation has room for its label.
  void place_moments() {
    std::vector<std::vector<std::size_t>> ending(moments_.size() + 1);
    for (std::size_t position = 0; position < history_.operations.size(); ++position) {
      ending[end_of(history_.operations[position])].push_back(position);
    }
    place_of_.assign(moments_.size() + 1, text_margin);
    for (std::size_t moment = 1; moment < place_of_.size(); ++moment) {
      place_of_[moment] = place_of_[moment - 1] + shortest_step;
      for (const std::size_t position : ending[moment]) {
        const std::size_t begin = place_of_[begin_of(history_.operations[position])];
        const std::size_t width =
            labels_[position].size() * letter_width + 2 * text_margin + bar_gap;
        place_of_[moment] = std::max(place_of_[moment], begin + width);
      }
    }
  }

  void write_labels() {
    for (std::size_t position = 0; position < history_.operations.size(); ++position) {
      const auto order = order_of_.find(position);
      const std::string number =
          order == order_of_.end() ? std::string() : fmt::format("{}. ", order->second);
      labels_.push_back(number +
                        shortened(history_.operations[position].text, longest_label_bytes));
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
    const std::size_t x = place_of_[begin_of(operation)];
    const std::size_t y = row_height * row_of_[position] + 4;
    const std::size_t width = place_of_[end_of(operation)] - x - bar_gap;
    const std::string times =
        operation.return_time
            ? fmt::format("call {}, return {}", operation.call_time, *operation.return_time)
            : fmt::format("call {}, no return", operation.call_time);
    return fmt::format(
        "<g class=\"{}{}\"><title>client {}: {} ({})</title><rect x=\"{}\" y=\"{}\" width=\"{}\" "
        "height=\"{}\" rx=\"3\"/><text x=\"{}\" y=\"{}\">{}</text></g>\n",
        kind, operation.return_time ? "" : " unanswered", operation.client,
        html_text(operation.text), times, x, y, width, bar_height, x + text_margin, y + 17,
        html_text(labels_[position]));
  }

  const JudgedHistory& history_;
  std::map<std::uint64_t, std::size_t> moments_;  // by time: counted from 0
  std::vector<Row> rows_;
  std::vector<std::size_t> row_of_;              // by position
  std::map<std::size_t, std::size_t> order_of_;  // by position: counted from 1
  std::vector<std::string> labels_;              // by position
  std::vector<std::size_t> place_of_;            // by moment, and the end: in pixels
};

}  // namespace

std::string history_page(const std::string& title, const JudgedHistory& history) {
  const Judgement& judgement = history.report.judgement;
  return fmt::format(head, html_text(title), html_text(history.specification),
                     html_text(to_string(judgement.verdict)), history.operations.size()) +
         Drawing(history).html() + "<pre>" + html_text(judgement.explanation) + "</pre>\n" +
         std::string(tail);
}

}  // namespace falafel::checkers::formats
