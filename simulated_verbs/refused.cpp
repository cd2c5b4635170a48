// The functions of libibverbs that are not simulated. Each says so by name, once, and fails as it
// does on a device that lacks it. Inline functions of verbs.h that need an extended context fail by
// themselves.
#include <infiniband/verbs.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "simulated_verbs/errors.h"
#include "simulated_verbs/not_simulated.h"

namespace falafel::simulated_verbs {

namespace {

int refuse(const char* what) {
  report_not_simulated(what);
  return EOPNOTSUPP;
}

std::nullptr_t refuse_with_null(const char* what) { return fail_with(refuse(what)); }

}  // namespace

}  // namespace falafel::simulated_verbs

using namespace falafel::simulated_verbs;  // NOLINT(google-build-using-namespace)

extern "C" {

ibv_context* ibv_import_device(int /*cmd_fd*/) { return refuse_with_null("ibv_import_device"); }

ibv_pd* ibv_import_pd(ibv_context* /*context*/, std::uint32_t /*handle*/) {
  return refuse_with_null("ibv_import_pd");
}

void ibv_unimport_pd(ibv_pd* /*pd*/) { refuse("ibv_unimport_pd"); }

ibv_mr* ibv_import_mr(ibv_pd* /*pd*/, std::uint32_t /*handle*/) {
  return refuse_with_null("ibv_import_mr");
}

void ibv_unimport_mr(ibv_mr* /*mr*/) { refuse("ibv_unimport_mr"); }

ibv_dm* ibv_import_dm(ibv_context* /*context*/, std::uint32_t /*handle*/) {
  return refuse_with_null("ibv_import_dm");
}

void ibv_unimport_dm(ibv_dm* /*dm*/) { refuse("ibv_unimport_dm"); }

ibv_mr* ibv_reg_dmabuf_mr(ibv_pd* /*pd*/, std::uint64_t /*offset*/, std::size_t /*length*/,
                          std::uint64_t /*iova*/, int /*fd*/, int /*access*/) {
  return refuse_with_null("ibv_reg_dmabuf_mr");
}

int ibv_attach_mcast(ibv_qp* /*qp*/, const ibv_gid* /*gid*/, std::uint16_t /*lid*/) {
  return refuse("ibv_attach_mcast");
}

int ibv_detach_mcast(ibv_qp* /*qp*/, const ibv_gid* /*gid*/, std::uint16_t /*lid*/) {
  return refuse("ibv_detach_mcast");
}

int ibv_resolve_eth_l2_from_gid(ibv_context* /*context*/, ibv_ah_attr* /*attr*/,
                                std::uint8_t /*eth_mac*/[6], std::uint16_t* /*vid*/) {
  return refuse("ibv_resolve_eth_l2_from_gid");
}

int ibv_set_ece(ibv_qp* /*qp*/, ibv_ece* /*ece*/) { return refuse("ibv_set_ece"); }

int ibv_query_ece(ibv_qp* /*qp*/, ibv_ece* /*ece*/) { return refuse("ibv_query_ece"); }
}
