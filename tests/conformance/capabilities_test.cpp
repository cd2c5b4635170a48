// Tests that hosts and devices report the properties that the backend declares.
#include <bit>
#include <cstdint>

#include "tests/conformance/suite.h"

namespace falafel::conformance {
namespace {

FALAFEL_CONFORMANCE_SUITE_WITHOUT_RC(CapabilitiesTest);

TEST_P(CapabilitiesTest, HostHasItsNameAndDevices) {
  run_alone(
      [](Host& host) {
        EXPECT_EQ(host.name(), "host");
        ASSERT_EQ(host.device_count(), 3U);
        EXPECT_NE(&host.device(0), &host.device(1));
        EXPECT_EQ(&host.device(2), &host.device(2));
      },
      3);
}

TEST_P(CapabilitiesTest, DeviceCanDoWhatQueuePairsAskForByDefault) {
  run_alone([](Host& host) {
    const DeviceAttributes& device = host.device(0).attributes();
    const QueuePairOptions defaults;
    EXPECT_TRUE(std::has_single_bit(device.mtu_bytes)) << device.mtu_bytes;
    EXPECT_GE(device.mtu_bytes, 256U);
    EXPECT_LE(device.mtu_bytes, 4096U);
    EXPECT_GE(device.max_message_bytes, device.mtu_bytes);
    EXPECT_GE(device.max_queue_requests, defaults.max_send_requests);
    EXPECT_GE(device.max_queue_requests, defaults.max_receive_requests);
    EXPECT_GE(device.max_completions, 2 * device.max_queue_requests);
    if (device.supports_reliable_connection) {
      EXPECT_GE(device.max_outstanding_reads_and_atomics, 1U);
    }
  });
}

TEST_P(CapabilitiesTest, BackendDeclaresWhatTheDeviceCan) {
  const Capabilities declared = capabilities();
  run_alone([declared](Host& host) {
    const DeviceAttributes& device = host.device(0).attributes();
    EXPECT_EQ(device.max_inline_bytes >= 24, declared.inlines_data);
    EXPECT_EQ(device.supports_reliable_connection, declared.reliable_connection);
    EXPECT_EQ(device.supports_unreliable_connection, declared.unreliable_connection);
    EXPECT_EQ(device.supports_unreliable_datagram, declared.unreliable_datagram);
    EXPECT_EQ(device.supports_message_stream, declared.message_stream);
    EXPECT_EQ(device.places_in_address_order, declared.places_in_address_order);
    EXPECT_EQ(device.max_shared_receive_queues > 0, declared.shared_receive_queues);
    EXPECT_EQ(device.has_masked_atomics, declared.masked_atomics);
  });
}

TEST_P(CapabilitiesTest, AConnectedQueuePairPlacesInAddressOrderIfItsDeviceDoes) {
  if (!capabilities().reliable_connection) GTEST_SKIP();
  const auto compare = [](Peer& peer) {
    if (!peer.site->device.attributes().places_in_address_order) return;
    EXPECT_TRUE(peer.queue_pair->places_in_address_order());
  };
  run_pairs({}, compare, compare);
}

}  // namespace
}  // namespace falafel::conformance
