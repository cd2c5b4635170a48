// Tests what both ends agree on before they are connected, and cases in which they do not agree.
#include "fabric/verbs/handshake.h"

#include <gtest/gtest.h>

namespace falafel::verbs {
namespace {

HandshakeBody make_end() {
  HandshakeBody body;
  body.gid.fill(1);
  body.queue_pair_number = 17;
  body.first_sent_packet = 1'000;
  body.mtu_bytes = 4096;
  body.is_ethernet = 1;
  body.reads_as_requester = 16;
  body.reads_as_responder = 128;
  return body;
}

TEST(HandshakeTest, EachEndTakesWhatBothCanDo) {
  const HandshakeBody own = make_end();
  HandshakeBody other = make_end();
  other.queue_pair_number = 18;
  other.first_sent_packet = 2'000;
  other.gid.fill(2);
  other.mtu_bytes = 1024;
  other.reads_as_requester = 4;
  other.reads_as_responder = 8;
  const auto route = agree(own, other);
  ASSERT_TRUE(route.has_value()) << route.error().detail;
  EXPECT_EQ(route->queue_pair_number, 18U);
  EXPECT_EQ(route->gid, other.gid);
  EXPECT_EQ(route->mtu_bytes, 1024U);
  EXPECT_EQ(route->first_sent_packet, 1'000U);
  EXPECT_EQ(route->first_received_packet, 2'000U);
  EXPECT_EQ(route->reads_as_requester, 8U);
  EXPECT_EQ(route->reads_as_responder, 4U);
}

TEST(HandshakeTest, EndsOfDifferentKindsDoNotFit) {
  const HandshakeBody own = make_end();
  HandshakeBody other = make_end();
  other.transport = fabric::Transport::unreliable_connection;
  EXPECT_FALSE(agree(own, other).has_value());
  other = make_end();
  other.is_ethernet = 0;
  EXPECT_FALSE(agree(own, other).has_value());
}

TEST(HandshakeTest, StrangersAndOtherVersionsAreToldApart) {
  EXPECT_EQ(problem_of({}), "");
  EXPECT_NE(problem_of({.magic = 7}).find("does not speak this protocol"), std::string::npos);
  const std::string problem = problem_of({.version = handshake_version + 1});
  EXPECT_NE(problem.find("use the same release"), std::string::npos) << problem;
}

TEST(HandshakeTest, PrivateDataIsCutToWhatFits) {
  HandshakeBody body;
  const fabric::PrivateData data(fabric::max_private_data_bytes + 1, std::byte{5});
  set_private_data(body, data);
  EXPECT_EQ(private_data_of(body),
            fabric::PrivateData(fabric::max_private_data_bytes, std::byte{5}));
  set_private_data(body, {});
  EXPECT_TRUE(private_data_of(body).empty());
}

// The length is untrusted input.
TEST(HandshakeTest, ClaimOfTooMuchPrivateDataIsNotBelieved) {
  HandshakeBody body;
  body.private_data_bytes = 1'000'000;
  EXPECT_EQ(private_data_of(body).size(), fabric::max_private_data_bytes);
}

}  // namespace
}  // namespace falafel::verbs
