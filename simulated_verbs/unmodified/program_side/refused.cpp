// The functions that are not simulated: those for drivers of devices, which a simulated device has
// none of, and what would run beside the simulator or ask the system for what differs from run to
// run. A program that calls one ends with a message that names it.
#include <cerrno>
#include <cstddef>

#include "simulated_verbs/unmodified/program_side/connection.h"

#define FALAFEL_REFUSE(name)                                                                       \
  extern "C" [[noreturn]] FALAFEL_EXPORTED void name() { falafel::simulated_verbs::refuse(#name); }

// libibverbs.
FALAFEL_REFUSE(__ioctl_final_num_attrs)
FALAFEL_REFUSE(_verbs_init_and_alloc_context)
FALAFEL_REFUSE(execute_ioctl)
FALAFEL_REFUSE(ibv_cmd_advise_mr)
FALAFEL_REFUSE(ibv_cmd_alloc_dm)
FALAFEL_REFUSE(ibv_cmd_alloc_mw)
FALAFEL_REFUSE(ibv_cmd_alloc_pd)
FALAFEL_REFUSE(ibv_cmd_attach_mcast)
FALAFEL_REFUSE(ibv_cmd_close_xrcd)
FALAFEL_REFUSE(ibv_cmd_create_ah)
FALAFEL_REFUSE(ibv_cmd_create_counters)
FALAFEL_REFUSE(ibv_cmd_create_cq)
FALAFEL_REFUSE(ibv_cmd_create_cq_ex)
FALAFEL_REFUSE(ibv_cmd_create_flow)
FALAFEL_REFUSE(ibv_cmd_create_flow_action_esp)
FALAFEL_REFUSE(ibv_cmd_create_qp)
FALAFEL_REFUSE(ibv_cmd_create_qp_ex)
FALAFEL_REFUSE(ibv_cmd_create_qp_ex2)
FALAFEL_REFUSE(ibv_cmd_create_rwq_ind_table)
FALAFEL_REFUSE(ibv_cmd_create_srq)
FALAFEL_REFUSE(ibv_cmd_create_srq_ex)
FALAFEL_REFUSE(ibv_cmd_create_wq)
FALAFEL_REFUSE(ibv_cmd_dealloc_mw)
FALAFEL_REFUSE(ibv_cmd_dealloc_pd)
FALAFEL_REFUSE(ibv_cmd_dereg_mr)
FALAFEL_REFUSE(ibv_cmd_destroy_ah)
FALAFEL_REFUSE(ibv_cmd_destroy_counters)
FALAFEL_REFUSE(ibv_cmd_destroy_cq)
FALAFEL_REFUSE(ibv_cmd_destroy_flow)
FALAFEL_REFUSE(ibv_cmd_destroy_flow_action)
FALAFEL_REFUSE(ibv_cmd_destroy_qp)
FALAFEL_REFUSE(ibv_cmd_destroy_rwq_ind_table)
FALAFEL_REFUSE(ibv_cmd_destroy_srq)
FALAFEL_REFUSE(ibv_cmd_destroy_wq)
FALAFEL_REFUSE(ibv_cmd_detach_mcast)
FALAFEL_REFUSE(ibv_cmd_free_dm)
FALAFEL_REFUSE(ibv_cmd_get_context)
FALAFEL_REFUSE(ibv_cmd_modify_cq)
FALAFEL_REFUSE(ibv_cmd_modify_flow_action_esp)
FALAFEL_REFUSE(ibv_cmd_modify_qp)
FALAFEL_REFUSE(ibv_cmd_modify_qp_ex)
FALAFEL_REFUSE(ibv_cmd_modify_srq)
FALAFEL_REFUSE(ibv_cmd_modify_wq)
FALAFEL_REFUSE(ibv_cmd_open_qp)
FALAFEL_REFUSE(ibv_cmd_open_xrcd)
FALAFEL_REFUSE(ibv_cmd_poll_cq)
FALAFEL_REFUSE(ibv_cmd_post_recv)
FALAFEL_REFUSE(ibv_cmd_post_send)
FALAFEL_REFUSE(ibv_cmd_post_srq_recv)
FALAFEL_REFUSE(ibv_cmd_query_context)
FALAFEL_REFUSE(ibv_cmd_query_device_any)
FALAFEL_REFUSE(ibv_cmd_query_mr)
FALAFEL_REFUSE(ibv_cmd_query_port)
FALAFEL_REFUSE(ibv_cmd_query_qp)
FALAFEL_REFUSE(ibv_cmd_query_srq)
FALAFEL_REFUSE(ibv_cmd_read_counters)
FALAFEL_REFUSE(ibv_cmd_reg_dm_mr)
FALAFEL_REFUSE(ibv_cmd_reg_dmabuf_mr)
FALAFEL_REFUSE(ibv_cmd_reg_mr)
FALAFEL_REFUSE(ibv_cmd_req_notify_cq)
FALAFEL_REFUSE(ibv_cmd_rereg_mr)
FALAFEL_REFUSE(ibv_cmd_resize_cq)
FALAFEL_REFUSE(ibv_copy_ah_attr_from_kern)
FALAFEL_REFUSE(ibv_copy_path_rec_from_kern)
FALAFEL_REFUSE(ibv_copy_path_rec_to_kern)
FALAFEL_REFUSE(ibv_copy_qp_attr_from_kern)
FALAFEL_REFUSE(verbs_init_cq)
FALAFEL_REFUSE(verbs_open_device)
FALAFEL_REFUSE(verbs_set_ops)
FALAFEL_REFUSE(verbs_uninit_context)

// The C library.
FALAFEL_REFUSE(arc4random)
FALAFEL_REFUSE(call_once)
FALAFEL_REFUSE(clone)
FALAFEL_REFUSE(cnd_signal)
FALAFEL_REFUSE(cnd_timedwait)
FALAFEL_REFUSE(cnd_wait)
FALAFEL_REFUSE(execl)
FALAFEL_REFUSE(execle)
FALAFEL_REFUSE(execlp)
FALAFEL_REFUSE(execv)
FALAFEL_REFUSE(execve)
FALAFEL_REFUSE(execvp)
FALAFEL_REFUSE(execvpe)
FALAFEL_REFUSE(fork)
FALAFEL_REFUSE(mtx_lock)
FALAFEL_REFUSE(mtx_timedlock)
FALAFEL_REFUSE(mtx_trylock)
FALAFEL_REFUSE(popen)
FALAFEL_REFUSE(posix_spawn)
FALAFEL_REFUSE(posix_spawnp)
FALAFEL_REFUSE(ppoll)
FALAFEL_REFUSE(pthread_cancel)
FALAFEL_REFUSE(pthread_clockjoin_np)
FALAFEL_REFUSE(pthread_getcpuclockid)
FALAFEL_REFUSE(pthread_kill)
FALAFEL_REFUSE(pthread_mutex_consistent)
FALAFEL_REFUSE(pthread_mutex_getprioceiling)
FALAFEL_REFUSE(pthread_mutex_setprioceiling)
FALAFEL_REFUSE(pthread_rwlock_clockrdlock)
FALAFEL_REFUSE(pthread_rwlock_clockwrlock)
FALAFEL_REFUSE(pthread_sigqueue)
FALAFEL_REFUSE(pthread_timedjoin_np)
FALAFEL_REFUSE(sem_open)
FALAFEL_REFUSE(setitimer)
FALAFEL_REFUSE(signalfd)
FALAFEL_REFUSE(system)
FALAFEL_REFUSE(thrd_create)
FALAFEL_REFUSE(timer_create)
FALAFEL_REFUSE(ualarm)
FALAFEL_REFUSE(vfork)

extern "C" {

// As of a kernel without them, which libraries know how to do without.
FALAFEL_EXPORTED int timerfd_create(int /*clock*/, int /*flags*/) {
  errno = ENOSYS;
  return -1;
}

// NOLINTBEGIN(readability-identifier-naming): libibverbs gives the names.

// Libraries of drivers register themselves when they are loaded; there is no device of theirs.
FALAFEL_EXPORTED void verbs_register_driver_34(const void* /*operations*/) {}
FALAFEL_EXPORTED void __verbs_log(void* /*context*/, unsigned /*level*/, const char* /*text*/,
                                  ...) {}
FALAFEL_EXPORTED bool verbs_allow_disassociate_destroy = false;

// A process has no children.
FALAFEL_EXPORTED int ibv_dontfork_range(void* /*base*/, std::size_t /*bytes*/) { return 0; }
FALAFEL_EXPORTED int ibv_dofork_range(void* /*base*/, std::size_t /*bytes*/) { return 0; }

// A simulated device has no files.
FALAFEL_EXPORTED const char* ibv_get_sysfs_path() { return "/sys"; }
FALAFEL_EXPORTED int ibv_read_sysfs_file(const char* /*folder*/, const char* /*file*/,
                                         char* /*buffer*/, std::size_t /*bytes*/) {
  return -1;
}
FALAFEL_EXPORTED int ibv_read_ibdev_sysfs_file(char* /*buffer*/, std::size_t /*bytes*/,
                                               const void* /*device*/, const char* /*file*/, ...) {
  return -1;
}

// All are those of InfiniBand.
FALAFEL_EXPORTED int ibv_query_gid_type(void* /*context*/, unsigned char /*port*/,
                                        unsigned /*index*/, unsigned* type) {
  *type = 0;
  return 0;
}

// NOLINTEND(readability-identifier-naming)

}  // extern "C"
