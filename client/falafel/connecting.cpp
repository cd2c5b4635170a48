#include "falafel/connecting.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <string_view>

namespace falafel {
namespace {

// Client and server check the versions of each other's messages, shared memory and superblock.
// Their errors name the version and have no separate code, because a server's refusal is a text.
bool is_about_version(const fabric::Error& error) {
  constexpr std::string_view word = "version ";
  const std::size_t found = error.detail.find(word);
  const std::size_t number = found + word.size();
  return found != std::string::npos && number < error.detail.size() &&
         error.detail[number] >= '0' && error.detail[number] <= '9';
}

OpenProblem problem_of(const fabric::Error& error) {
  if (is_about_permission(error)) return OpenProblem::no_permission;
  if (is_about_version(error)) return OpenProblem::other_version;
  switch (error.code) {
    case fabric::ErrorCode::connection_refused: return OpenProblem::refused;
    case fabric::ErrorCode::out_of_memory: return OpenProblem::out_of_memory;
    case fabric::ErrorCode::unreachable: return OpenProblem::unreachable;
    default: return OpenProblem::invalid_options;
  }
}

}  // namespace

std::string_view to_string(OpenProblem problem) {
  switch (problem) {
    case OpenProblem::invalid_options: return "invalid options";
    case OpenProblem::no_server: return "no server";
    case OpenProblem::no_permission: return "no permission";
    case OpenProblem::other_version: return "other version";
    case OpenProblem::refused: return "refused";
    case OpenProblem::out_of_memory: return "out of memory";
    case OpenProblem::unreachable: return "unreachable";
  }
  return "?";
}

bool is_about_permission(const fabric::Error& error) {
  return error.code == fabric::ErrorCode::access_denied ||
         error.detail.find(std::strerror(EACCES)) != std::string::npos;
}

OpenError explain_fabric_error(const fabric::Error& error) {
  return {.problem = problem_of(error), .detail = error.detail};
}

OpenError explain_connect_error(const fabric::Error& error, const Fabric& fabric,
                                const std::string& server) {
  const OpenProblem problem = problem_of(error);
  const bool is_explained = problem == OpenProblem::other_version ||
                            problem == OpenProblem::invalid_options ||
                            error.code == fabric::ErrorCode::access_denied;
  if (is_explained) return {.problem = problem, .detail = error.detail};
  switch (fabric.look_for(address_of(server))) {
    case ServerPresence::absent:
      return {.problem = OpenProblem::no_server,
              .detail = fmt::format(
                  "no server named '{}' in {}; start one with: falafel serve --name {}, or "
                  "check --name and --directory",
                  server, fabric.place(), server)};
    case ServerPresence::abandoned:
      return {.problem = OpenProblem::no_server,
              .detail = fmt::format(
                  "the server '{}' in {} has ended and left its socket behind; restart it "
                  "with: falafel serve --name {}",
                  server, fabric.place(), server)};
    case ServerPresence::forbidden:
      return {.problem = OpenProblem::no_permission,
              .detail = fmt::format(
                  "this user may not connect to the server '{}' in {}; run as the user that runs "
                  "the server, or ask that user for access to the directory",
                  server, fabric.place())};
    case ServerPresence::unknown: break;
  }
  return {.problem = problem, .detail = error.detail};
}

}  // namespace falafel
