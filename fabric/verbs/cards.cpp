#include "fabric/verbs/cards.h"

#include <fmt/format.h>

#include <array>

namespace falafel::verbs {
namespace {

constexpr std::string_view rc = "yes";
constexpr std::string_view iwarp = "no: iWARP";

constexpr std::array cards{
    Card{"mlx5_ib", "NVIDIA ConnectX-4 and later, BlueField; Connect-IB", 0x02c9, rc,
         "yes, if the firmware answers 8-byte atomics in the host's byte order",
         "hw/mlx5/main.c: get_atomic_caps"},
    Card{"mlx4_ib", "NVIDIA ConnectX-2, ConnectX-3", 0x02c9, rc, "yes, if the firmware has them",
         "hw/mlx4/main.c: mlx4_ib_query_device"},
    Card{"mthca", "Mellanox InfiniHost", 0x02c9, rc, "yes, if the firmware has them",
         "hw/mthca/mthca_provider.c"},
    Card{"bnxt_re", "Broadcom NetXtreme-E and -C", 0x14e4, rc,
         "BCM575xx (P5) and later, if PCIe atomics are enabled (`lspci -vv`: AtomicOpsCtl: ReqEn+)",
         "hw/bnxt_re/qplib_sp.c: bnxt_qplib_is_atomic_cap"},
    Card{"qedr", "Marvell (QLogic) FastLinQ 41000, 45000", 0x1077,
         "in RoCE mode; not in iWARP mode",
         "if every bridge up to the processor passes PCIe atomics",
         "hw/qedr/main.c: qedr_pci_set_atomic"},
    Card{"hns_roce_hw_v2", "HiSilicon Kunpeng", 0x19e5, rc, "yes", "hw/hns/hns_roce_hw_v2.c"},
    Card{"irdma", "Intel E810, X722", 0x8086, "in RoCE v2 mode; not in iWARP mode", "no",
         "hw/irdma/verbs.c: irdma_query_device"},
    Card{"irdma", "Intel IPU E2000 (GEN3)", 0x8086, rc,
         "if the firmware permits them, with a later kernel than 6.1",
         "https://lore.kernel.org/r/20250207194931.1569-22-tatyana.e.nikolova@intel.com"},
    Card{"hfi1, ib_qib", "Intel and Cornelis Omni-Path; QLogic InfiniBand", 0x1175, rc,
         "yes; the processor executes them", "hw/hfi1/verbs.c, hw/qib/qib_verbs.c"},
    Card{"vmw_pvrdma", "VMware paravirtual RDMA", 0x15ad, rc, "if the host's card has them",
         "hw/vmw_pvrdma/pvrdma_verbs.c"},
    Card{"rdma_rxe", "Soft-RoCE: any Ethernet card", 0xff'ffff, rc, "yes", "sw/rxe/rxe.c"},
    Card{"ocrdma", "Emulex OneConnect", 0x10df, rc, "no", "hw/ocrdma/ocrdma_verbs.c"},
    Card{
        "mana_ib", "Microsoft Azure MANA", 0, "not in 6.1, which has no driver", "no",
        "https://lore.kernel.org/r/1717070117-1234-3-git-send-email-kotaranov@linux.microsoft.com"},
    Card{"efa", "Amazon EFA", 0x1d0f, "no: UD and its own SRD only", "no",
         "hw/efa/efa_verbs.c: efa_qp_validate_attr"},
    Card{"usnic_verbs", "Cisco usNIC", 0x1137, "no: UD only", "no", "hw/usnic/usnic_ib_verbs.c"},
    Card{"erdma", "Alibaba Elastic RDMA", 0x1ded, iwarp, "not in 6.1; later kernels have them",
         "hw/erdma/erdma_verbs.c; "
         "https://lore.kernel.org/r/20221107021845.44598-1-chengyou@linux.alibaba.com"},
    Card{"iw_cxgb4", "Chelsio T4, T5, T6", 0x1425, iwarp, "no", "hw/cxgb4/provider.c"},
    Card{"siw", "Soft-iWARP: any Ethernet card", 0x62'6d74, iwarp, "no",
         "sw/siw/siw_verbs.c: siw_query_device"},
};

}  // namespace

std::span<const Card> known_cards() { return cards; }

std::string advice_about(std::uint32_t vendor) {
  std::string text;
  for (const Card& card : cards) {
    if (vendor == 0 || card.vendor != vendor) continue;
    text += fmt::format("{}{} ({}): RC {}; atomics {}", text.empty() ? "" : ". ", card.cards,
                        card.driver, card.connections, card.atomics);
  }
  return text;
}

}  // namespace falafel::verbs
