// Every part is a campaign of its own over the next seeds, and runs all seeds that it has begun. So
// saved results are always of whole runs over the first seeds, and a campaign that was interrupted
// goes on with the next one.
#include "explorer/commands/campaign_course.h"

#include <fmt/format.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <map>
#include <utility>

#include "explorer/commands/campaign_report.h"
#include "fabric/assert.h"
#include "processes/termination_signals.h"

namespace falafel::command_line {
namespace {

constexpr double seconds_between_saves = 10;

bool is_of(const explorer::CampaignResults& results, const explorer::CampaignIdentity& identity,
           const explorer::CampaignOptions& campaign) {
  if (results.identity != identity || results.seeds.size() > 1) return false;
  return results.seeds.empty() || (results.seeds[0].first == campaign.first_seed &&
                                   results.seeds[0].stride == campaign.stride);
}

// The results of this campaign that the file has already.
tl::expected<explorer::CampaignResults, std::string> earlier_results(
    const explorer::CampaignIdentity& identity, const CoursePlan& plan) {
  explorer::CampaignResults none;
  none.identity = identity;
  std::error_code error;
  if (plan.results.empty() || !std::filesystem::exists(plan.results, error)) return none;
  if (!plan.resumes) {
    return tl::unexpected(fmt::format(
        "--results {}: the file exists; continue it with --resume, or name another file",
        plan.results));
  }
  auto results = explorer::load_results(plan.results);
  if (!results) return tl::unexpected("--resume: " + results.error());
  if (is_of(*results, identity, plan.campaign)) return results;
  return tl::unexpected(fmt::format(
      "--resume: {} is of another campaign. It has run the seeds {} of the program {}, built as "
      "{}, "
      "with the options that the file lists. Use the same program and options, or another file",
      plan.results, describe_seeds(results->seeds), results->identity.program,
      results->identity.build));
}

bool is_over(const CoursePlan& plan, const Course& course, double seconds) {
  const explorer::CampaignOptions& campaign = plan.campaign;
  return (campaign.schedules > 0 && course.seeds() >= campaign.schedules) ||
         (campaign.seconds > 0 && seconds >= campaign.seconds) ||
         (campaign.stops_at_violation && !course.results.holds());
}

// `seconds` of the campaign are over.
explorer::CampaignOptions next_part(const CoursePlan& plan, const Course& course, double seconds) {
  explorer::CampaignOptions part = plan.campaign;
  part.first_seed += course.seeds() * part.stride;
  if (part.schedules > 0) part.schedules -= course.seeds();
  if (part.seconds > 0) part.seconds -= seconds;
  if (plan.results.empty()) return part;
  part.seconds =
      part.seconds > 0 ? std::min(part.seconds, seconds_between_saves) : seconds_between_saves;
  return part;
}

// The times at which a part reached something first are those of its reports, several per second.
class PartObserver {
 public:
  PartObserver(const explorer::Program& program, const explorer::CampaignIdentity& identity,
               const explorer::CampaignOptions& part, const explorer::CampaignResults& before)
      : program_(program), identity_(identity), part_(part), before_(before) {}

  // The results of everything so far, with the times of what was reached.
  explorer::CampaignResults sum_with(const explorer::CampaignResult& result,
                                     const std::map<std::string, std::uint64_t>& conditions) {
    explorer::CampaignResults sum = before_;
    const auto added = add(sum, name_results(program_, identity_, part_, result));
    FALAFEL_ASSERT(added.has_value(), "parts of one campaign do not add up: {}", added.error());
    sum.conditions = conditions;
    for (const auto& [name, count] : program_.conditions()) sum.conditions[name] += count;
    sum.first_reached = first_reached_;
    note_first_reached(sum);
    first_reached_ = sum.first_reached;
    return sum;
  }

 private:
  const explorer::Program& program_;
  const explorer::CampaignIdentity& identity_;
  const explorer::CampaignOptions& part_;
  const explorer::CampaignResults& before_;
  std::map<std::string, explorer::FirstReach> first_reached_ = before_.first_reached;
};

}  // namespace

std::optional<Shard> parse_shard(const std::string& text) {
  Shard shard;
  char behind = '\0';
  const int fields =
      std::sscanf(text.c_str(), "%" SCNu64 "/%" SCNu64 "%c", &shard.number, &shard.of, &behind);
  if (fields != 2 || shard.number == 0 || shard.number > shard.of) return std::nullopt;
  return shard;
}

explorer::CampaignOptions restrict_to(const Shard& shard, explorer::CampaignOptions campaign) {
  campaign.first_seed += shard.number - 1;
  campaign.stride = shard.of;
  if (campaign.schedules > 0) {
    campaign.schedules = (campaign.schedules + shard.of - shard.number) / shard.of;
  }
  return campaign;
}

tl::expected<Course, std::string> run_course(const explorer::Program& program,
                                             const explorer::CampaignIdentity& identity,
                                             const CoursePlan& plan,
                                             const CourseProgress& progress) {
  auto earlier = earlier_results(identity, plan);
  if (!earlier) return tl::unexpected(std::move(earlier.error()));
  Course course{.results = std::move(*earlier)};
  const auto earlier_conditions = course.results.conditions;
  const double earlier_seconds = course.results.seconds;
  processes::TerminationSignals signals;
  for (;;) {
    const double seconds = course.results.seconds - earlier_seconds;
    if (is_over(plan, course, seconds)) return course;
    course.is_interrupted = signals.arrived();
    if (course.is_interrupted) return course;
    const explorer::CampaignOptions part = next_part(plan, course, seconds);
    PartObserver observer(program, identity, part, course.results);
    const auto result =
        explorer::run_campaign(program, part, [&](const explorer::CampaignResult& so_far) {
          progress(course.results, so_far);
          observer.sum_with(so_far, earlier_conditions);
          return !signals.arrived();
        });
    course.results = observer.sum_with(result, earlier_conditions);
    if (plan.results.empty()) continue;
    if (auto saved = save_results(course.results, plan.results); !saved) {
      return tl::unexpected("--results " + saved.error());
    }
  }
}

}  // namespace falafel::command_line
