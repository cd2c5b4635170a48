// Tests what the log of requests says about new, repeated and old requests.
#include "stores/two_sided/request_log.h"

#include <gtest/gtest.h>

namespace falafel::two_sided {
namespace {

Request request(std::int32_t client, std::uint32_t number) {
  Request made;
  made.client_id = client;
  made.request_number = number;
  return made;
}

TEST(RequestLog, AnswersARepeatedRequestFromMemory) {
  RequestLog log;
  EXPECT_EQ(log.begin(request(1, 1)), RequestState::is_new);
  EXPECT_EQ(log.begin(request(1, 1)), RequestState::is_old) << "it is in progress";
  Response response;
  response.code = ResponseCode::key_error;
  log.finish(request(1, 1), response);
  EXPECT_EQ(log.begin(request(1, 1)), RequestState::is_done);
  EXPECT_EQ(log.response_to(request(1, 1)).code, ResponseCode::key_error);
}

TEST(RequestLog, DropsWhatCameBeforeTheLastRequest) {
  RequestLog log;
  EXPECT_EQ(log.begin(request(1, 1)), RequestState::is_new);
  EXPECT_EQ(log.begin(request(1, 2)), RequestState::is_new);
  log.finish(request(1, 1), {});
  EXPECT_EQ(log.begin(request(1, 1)), RequestState::is_old);
  EXPECT_EQ(log.begin(request(1, 2)), RequestState::is_old) << "its response is not known yet";
}

TEST(RequestLog, KeepsClientsApart) {
  RequestLog log;
  EXPECT_EQ(log.begin(request(1, 5)), RequestState::is_new);
  EXPECT_EQ(log.begin(request(2, 1)), RequestState::is_new);
}

TEST(RequestLog, SurvivesTheNumbersWrappingAround) {
  RequestLog log;
  constexpr std::uint32_t half = 1U << 31;
  EXPECT_EQ(log.begin(request(1, half - 1)), RequestState::is_new);
  EXPECT_EQ(log.begin(request(1, ~0U - 1)), RequestState::is_new);
  EXPECT_EQ(log.begin(request(1, 3)), RequestState::is_new);
  EXPECT_EQ(log.begin(request(1, ~0U - 1)), RequestState::is_old);
}

}  // namespace
}  // namespace falafel::two_sided
