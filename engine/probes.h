// Rare branches of the engine. A campaign reports how often it reached each one; a branch that it
// never reached is not tested by that campaign.
#pragma once

#include <array>

#include "fabric/fabric.h"

namespace falafel::engine::probes {

using fabric::Probe;

inline constexpr Probe compare_and_swap_lost{0, "compare_and_swap_lost"};
inline constexpr Probe restart_at_lock{1, "restart_at_lock"};
inline constexpr Probe restart_at_bad_checksum{2, "restart_at_bad_checksum"};
inline constexpr Probe restart_at_changed_walk{3, "restart_at_changed_walk"};
inline constexpr Probe walk_wrapped{4, "walk_wrapped"};
inline constexpr Probe walk_covered_table{5, "walk_covered_table"};
inline constexpr Probe outcome_unknown{6, "outcome_unknown"};
inline constexpr Probe region_denied{7, "region_denied"};
inline constexpr Probe region_renewed_eagerly{8, "region_renewed_eagerly"};
inline constexpr Probe container_corrupted{9, "container_corrupted"};
inline constexpr Probe collector_met_deleted{10, "collector_met_deleted"};
inline constexpr Probe collector_lost{11, "collector_lost"};
inline constexpr Probe collector_retried{12, "collector_retried"};
inline constexpr Probe mature_space_flipped{13, "mature_space_flipped"};
inline constexpr Probe reclamation_waited{14, "reclamation_waited"};
inline constexpr Probe cleanup_moved_entry{15, "cleanup_moved_entry"};
inline constexpr Probe cleanup_lock_lost{16, "cleanup_lock_lost"};
inline constexpr Probe cleanup_wrapped{17, "cleanup_wrapped"};
inline constexpr Probe client_fenced{18, "client_fenced"};
inline constexpr Probe update_in_doubt{19, "update_in_doubt"};
inline constexpr Probe client_expelled{20, "client_expelled"};
inline constexpr Probe flush_overdue{21, "flush_overdue"};
inline constexpr Probe server_was_late{22, "server_was_late"};
inline constexpr Probe entry_repaired{23, "entry_repaired"};
inline constexpr Probe regions_asked_back{24, "regions_asked_back"};
inline constexpr Probe region_granted_for_overwrite{25, "region_granted_for_overwrite"};
inline constexpr Probe cleanup_requested{26, "cleanup_requested"};
inline constexpr Probe location_hit{27, "location_hit"};
inline constexpr Probe location_stale{28, "location_stale"};
inline constexpr Probe block_collected{29, "block_collected"};
inline constexpr Probe value_expired{30, "value_expired"};
inline constexpr Probe collector_met_expired{31, "collector_met_expired"};
inline constexpr Probe value_evicted{32, "value_evicted"};
inline constexpr Probe recovery_met_lock{33, "recovery_met_lock"};
inline constexpr Probe recovery_met_moved_entry{34, "recovery_met_moved_entry"};
inline constexpr Probe recovery_met_two_spaces{35, "recovery_met_two_spaces"};
inline constexpr Probe recovery_collected_region{36, "recovery_collected_region"};
inline constexpr Probe recovery_freed_block{37, "recovery_freed_block"};
inline constexpr Probe table_growth_began{38, "table_growth_began"};
inline constexpr Probe entry_moved_to_table{39, "entry_moved_to_table"};
inline constexpr Probe table_growth_lacked_room{40, "table_growth_lacked_room"};
inline constexpr Probe met_frozen_slot{41, "met_frozen_slot"};
inline constexpr Probe walk_went_on_behind_table{42, "walk_went_on_behind_table"};
inline constexpr Probe insertion_in_later_table{43, "insertion_in_later_table"};
inline constexpr Probe change_in_walk_over_tables{44, "change_in_walk_over_tables"};
inline constexpr Probe recovery_met_growth{45, "recovery_met_growth"};
inline constexpr Probe memory_grew{46, "memory_grew"};
inline constexpr Probe memory_released{47, "memory_released"};
inline constexpr Probe memory_refused{48, "memory_refused"};
inline constexpr Probe server_close_heard{49, "server_close_heard"};
inline constexpr Probe value_spared{50, "value_spared"};

inline constexpr std::array all{compare_and_swap_lost,
                                restart_at_lock,
                                restart_at_bad_checksum,
                                restart_at_changed_walk,
                                walk_wrapped,
                                walk_covered_table,
                                outcome_unknown,
                                region_denied,
                                region_renewed_eagerly,
                                container_corrupted,
                                collector_met_deleted,
                                collector_lost,
                                collector_retried,
                                mature_space_flipped,
                                reclamation_waited,
                                cleanup_moved_entry,
                                cleanup_lock_lost,
                                cleanup_wrapped,
                                client_fenced,
                                update_in_doubt,
                                client_expelled,
                                flush_overdue,
                                server_was_late,
                                entry_repaired,
                                regions_asked_back,
                                region_granted_for_overwrite,
                                cleanup_requested,
                                location_hit,
                                location_stale,
                                block_collected,
                                value_expired,
                                collector_met_expired,
                                value_evicted,
                                recovery_met_lock,
                                recovery_met_moved_entry,
                                recovery_met_two_spaces,
                                recovery_collected_region,
                                recovery_freed_block,
                                table_growth_began,
                                entry_moved_to_table,
                                table_growth_lacked_room,
                                met_frozen_slot,
                                walk_went_on_behind_table,
                                insertion_in_later_table,
                                change_in_walk_over_tables,
                                recovery_met_growth,
                                memory_grew,
                                memory_released,
                                memory_refused,
                                server_close_heard,
                                value_spared};
static_assert(all.size() <= fabric::max_probes);

}  // namespace falafel::engine::probes
