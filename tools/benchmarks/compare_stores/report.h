// The comparison as tables in Markdown, as JSON, and as a picture.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "tools/benchmarks/compare_stores/client_death.h"
#include "tools/benchmarks/compare_stores/compared_store.h"
#include "tools/benchmarks/compare_stores/measurement.h"

namespace falafel::compare_stores {

// One store's row. An error explains what the store could not do.
struct ReportRow {
  ComparedStore store;
  tl::expected<Measurement, std::string> measured;
  tl::expected<ClientDeath, std::string> death;
};

std::string costs_text(const std::vector<ReportRow>& rows);
std::string client_deaths_text(const std::vector<ReportRow>& rows);
std::string findings_text(const std::vector<ReportRow>& rows);
nlohmann::json to_json(const std::vector<ReportRow>& rows);

// Draws throughput and latencies with gnuplot. Returns an error message if that fails.
std::optional<std::string> draw(const std::vector<ReportRow>& rows, const std::string& title,
                                const std::string& path);

}  // namespace falafel::compare_stores
