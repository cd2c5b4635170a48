// The functions that a program's process calls and the simulator carries out, each as
// CALL(name, function): the name that the program calls, and the function of simulated_verbs that
// does it. Both sides of a mailbox number the calls by these lists, so they are built together.
//
// The lists declare nothing, because some of these names are macros in the headers of the system.
#pragma once

// libibverbs.
#define FALAFEL_VERBS_CALLS(CALL)                                                                  \
  CALL(_ibv_query_gid_ex, _ibv_query_gid_ex)                                                       \
  CALL(_ibv_query_gid_table, _ibv_query_gid_table)                                                 \
  CALL(ibv_ack_async_event, ibv_ack_async_event)                                                   \
  CALL(ibv_ack_cq_events, ibv_ack_cq_events)                                                       \
  CALL(ibv_alloc_pd, ibv_alloc_pd)                                                                 \
  CALL(ibv_close_device, ibv_close_device)                                                         \
  CALL(ibv_create_ah, ibv_create_ah)                                                               \
  CALL(ibv_create_ah_from_wc, ibv_create_ah_from_wc)                                               \
  CALL(ibv_create_comp_channel, ibv_create_comp_channel)                                           \
  CALL(ibv_create_cq, ibv_create_cq)                                                               \
  CALL(ibv_create_qp, ibv_create_qp)                                                               \
  CALL(ibv_create_srq, ibv_create_srq)                                                             \
  CALL(ibv_dealloc_pd, ibv_dealloc_pd)                                                             \
  CALL(ibv_dereg_mr, ibv_dereg_mr)                                                                 \
  CALL(ibv_destroy_ah, ibv_destroy_ah)                                                             \
  CALL(ibv_destroy_comp_channel, ibv_destroy_comp_channel)                                         \
  CALL(ibv_destroy_cq, ibv_destroy_cq)                                                             \
  CALL(ibv_destroy_qp, ibv_destroy_qp)                                                             \
  CALL(ibv_destroy_srq, ibv_destroy_srq)                                                           \
  CALL(ibv_fork_init, ibv_fork_init)                                                               \
  CALL(ibv_free_device_list, ibv_free_device_list)                                                 \
  CALL(ibv_get_async_event, ibv_get_async_event)                                                   \
  CALL(ibv_get_cq_event, ibv_get_cq_event)                                                         \
  CALL(ibv_get_device_guid, ibv_get_device_guid)                                                   \
  CALL(ibv_get_device_index, ibv_get_device_index)                                                 \
  CALL(ibv_get_device_list, ibv_get_device_list)                                                   \
  CALL(ibv_get_device_name, ibv_get_device_name)                                                   \
  CALL(ibv_get_pkey_index, ibv_get_pkey_index)                                                     \
  CALL(ibv_init_ah_from_wc, ibv_init_ah_from_wc)                                                   \
  CALL(ibv_is_fork_initialized, ibv_is_fork_initialized)                                           \
  CALL(ibv_modify_qp, ibv_modify_qp)                                                               \
  CALL(ibv_modify_srq, ibv_modify_srq)                                                             \
  CALL(ibv_open_device, ibv_open_device)                                                           \
  CALL(ibv_qp_to_qp_ex, ibv_qp_to_qp_ex)                                                           \
  CALL(ibv_query_device, ibv_query_device)                                                         \
  CALL(ibv_query_gid, ibv_query_gid)                                                               \
  CALL(ibv_query_pkey, ibv_query_pkey)                                                             \
  CALL(ibv_query_port, ibv_query_port)                                                             \
  CALL(ibv_query_qp, ibv_query_qp)                                                                 \
  CALL(ibv_query_qp_data_in_order, ibv_query_qp_data_in_order)                                     \
  CALL(ibv_query_srq, ibv_query_srq)                                                               \
  CALL(ibv_reg_mr, ibv_reg_mr)                                                                     \
  CALL(ibv_reg_mr_iova, ibv_reg_mr_iova)                                                           \
  CALL(ibv_reg_mr_iova2, ibv_reg_mr_iova2)                                                         \
  CALL(ibv_resize_cq, ibv_resize_cq)                                                               \
  CALL(ibv_attach_mcast, ibv_attach_mcast)                                                         \
  CALL(ibv_detach_mcast, ibv_detach_mcast)                                                         \
  CALL(ibv_import_device, ibv_import_device)                                                       \
  CALL(ibv_import_dm, ibv_import_dm)                                                               \
  CALL(ibv_import_mr, ibv_import_mr)                                                               \
  CALL(ibv_import_pd, ibv_import_pd)                                                               \
  CALL(ibv_query_ece, ibv_query_ece)                                                               \
  CALL(ibv_reg_dmabuf_mr, ibv_reg_dmabuf_mr)                                                       \
  CALL(ibv_rereg_mr, ibv_rereg_mr)                                                                 \
  CALL(ibv_resolve_eth_l2_from_gid, ibv_resolve_eth_l2_from_gid)                                   \
  CALL(ibv_set_ece, ibv_set_ece)                                                                   \
  CALL(ibv_unimport_dm, ibv_unimport_dm)                                                           \
  CALL(ibv_unimport_mr, ibv_unimport_mr)                                                           \
  CALL(ibv_unimport_pd, ibv_unimport_pd)                                                           \
  CALL(ibv_rate_to_mbps, ibv_rate_to_mbps)                                                         \
  CALL(ibv_rate_to_mult, ibv_rate_to_mult)                                                         \
  CALL(mbps_to_ibv_rate, mbps_to_ibv_rate)                                                         \
  CALL(mult_to_ibv_rate, mult_to_ibv_rate)

// libibverbs: functions whose result is a text that exists forever.
#define FALAFEL_TEXT_CALLS(CALL)                                                                   \
  CALL(ibv_event_type_str, ibv_event_type_str)                                                     \
  CALL(ibv_node_type_str, ibv_node_type_str)                                                       \
  CALL(ibv_port_state_str, ibv_port_state_str)                                                     \
  CALL(ibv_wc_status_str, ibv_wc_status_str)

// librdmacm.
#define FALAFEL_CONNECTION_CALLS(CALL)                                                             \
  CALL(rdma_accept, rdma_accept)                                                                   \
  CALL(rdma_ack_cm_event, rdma_ack_cm_event)                                                       \
  CALL(rdma_bind_addr, rdma_bind_addr)                                                             \
  CALL(rdma_connect, rdma_connect)                                                                 \
  CALL(rdma_create_ep, rdma_create_ep)                                                             \
  CALL(rdma_create_event_channel, rdma_create_event_channel)                                       \
  CALL(rdma_create_id, rdma_create_id)                                                             \
  CALL(rdma_create_qp, rdma_create_qp)                                                             \
  CALL(rdma_create_qp_ex, rdma_create_qp_ex)                                                       \
  CALL(rdma_create_srq, rdma_create_srq)                                                           \
  CALL(rdma_create_srq_ex, rdma_create_srq_ex)                                                     \
  CALL(rdma_destroy_ep, rdma_destroy_ep)                                                           \
  CALL(rdma_destroy_event_channel, rdma_destroy_event_channel)                                     \
  CALL(rdma_destroy_id, rdma_destroy_id)                                                           \
  CALL(rdma_destroy_qp, rdma_destroy_qp)                                                           \
  CALL(rdma_destroy_srq, rdma_destroy_srq)                                                         \
  CALL(rdma_disconnect, rdma_disconnect)                                                           \
  CALL(rdma_establish, rdma_establish)                                                             \
  CALL(rdma_free_devices, rdma_free_devices)                                                       \
  CALL(rdma_freeaddrinfo, rdma_freeaddrinfo)                                                       \
  CALL(rdma_get_cm_event, rdma_get_cm_event)                                                       \
  CALL(rdma_get_devices, rdma_get_devices)                                                         \
  CALL(rdma_get_dst_port, rdma_get_dst_port)                                                       \
  CALL(rdma_get_remote_ece, rdma_get_remote_ece)                                                   \
  CALL(rdma_get_request, rdma_get_request)                                                         \
  CALL(rdma_get_src_port, rdma_get_src_port)                                                       \
  CALL(rdma_getaddrinfo, rdma_getaddrinfo)                                                         \
  CALL(rdma_init_qp_attr, rdma_init_qp_attr)                                                       \
  CALL(rdma_join_multicast, rdma_join_multicast)                                                   \
  CALL(rdma_join_multicast_ex, rdma_join_multicast_ex)                                             \
  CALL(rdma_leave_multicast, rdma_leave_multicast)                                                 \
  CALL(rdma_listen, rdma_listen)                                                                   \
  CALL(rdma_migrate_id, rdma_migrate_id)                                                           \
  CALL(rdma_notify, rdma_notify)                                                                   \
  CALL(rdma_reject, rdma_reject)                                                                   \
  CALL(rdma_reject_ece, rdma_reject_ece)                                                           \
  CALL(rdma_resolve_addr, rdma_resolve_addr)                                                       \
  CALL(rdma_resolve_route, rdma_resolve_route)                                                     \
  CALL(rdma_set_local_ece, rdma_set_local_ece)                                                     \
  CALL(rdma_set_option, rdma_set_option)

// librdmacm: functions whose result is a text that exists forever.
#define FALAFEL_CONNECTION_TEXT_CALLS(CALL) CALL(rdma_event_str, rdma_event_str)

// The functions that inline functions of verbs.h find in a context.
#define FALAFEL_OPERATION_CALLS(CALL)                                                              \
  CALL(falafel_poll_cq, falafel_poll_cq)                                                           \
  CALL(falafel_req_notify_cq, falafel_req_notify)                                                  \
  CALL(falafel_post_send, falafel_post_send)                                                       \
  CALL(falafel_post_recv, falafel_post_recv)                                                       \
  CALL(falafel_post_srq_recv, falafel_post_srq_recv)                                               \
  CALL(falafel_create_cq_ex, falafel_create_cq_ex)                                                 \
  CALL(falafel_create_qp_ex, falafel_create_qp_ex)                                                 \
  CALL(falafel_query_device_ex, falafel_query_device_ex)                                           \
  CALL(falafel_alloc_mw, falafel_alloc_mw)                                                         \
  CALL(falafel_dealloc_mw, falafel_dealloc_mw)                                                     \
  CALL(falafel_bind_mw, falafel_bind_mw)

// The functions that they find in an extended completion queue: the member of ibv_cq_ex.
#define FALAFEL_QUEUE_CALLS(CALL)                                                                  \
  CALL(falafel_start_poll, start_poll)                                                             \
  CALL(falafel_next_poll, next_poll)                                                               \
  CALL(falafel_end_poll, end_poll)                                                                 \
  CALL(falafel_read_completion_ts, read_completion_ts)                                             \
  CALL(falafel_read_opcode, read_opcode)                                                           \
  CALL(falafel_read_vendor_err, read_vendor_err)                                                   \
  CALL(falafel_read_byte_len, read_byte_len)                                                       \
  CALL(falafel_read_imm_data, read_imm_data)                                                       \
  CALL(falafel_read_qp_num, read_qp_num)                                                           \
  CALL(falafel_read_src_qp, read_src_qp)                                                           \
  CALL(falafel_read_wc_flags, read_wc_flags)                                                       \
  CALL(falafel_read_slid, read_slid)                                                               \
  CALL(falafel_read_sl, read_sl)                                                                   \
  CALL(falafel_read_dlid_path_bits, read_dlid_path_bits)

// The functions that they find in a queue pair for batches: the member of ibv_qp_ex.
#define FALAFEL_BATCH_CALLS(CALL)                                                                  \
  CALL(falafel_wr_atomic_cmp_swp, wr_atomic_cmp_swp)                                               \
  CALL(falafel_wr_atomic_fetch_add, wr_atomic_fetch_add)                                           \
  CALL(falafel_wr_bind_mw, wr_bind_mw)                                                             \
  CALL(falafel_wr_local_inv, wr_local_inv)                                                         \
  CALL(falafel_wr_send_inv, wr_send_inv)                                                           \
  CALL(falafel_wr_rdma_read, wr_rdma_read)                                                         \
  CALL(falafel_wr_rdma_write, wr_rdma_write)                                                       \
  CALL(falafel_wr_rdma_write_imm, wr_rdma_write_imm)                                               \
  CALL(falafel_wr_send, wr_send)                                                                   \
  CALL(falafel_wr_send_imm, wr_send_imm)                                                           \
  CALL(falafel_wr_set_ud_addr, wr_set_ud_addr)                                                     \
  CALL(falafel_wr_set_inline_data, wr_set_inline_data)                                             \
  CALL(falafel_wr_set_inline_data_list, wr_set_inline_data_list)                                   \
  CALL(falafel_wr_set_sge, wr_set_sge)                                                             \
  CALL(falafel_wr_set_sge_list, wr_set_sge_list)                                                   \
  CALL(falafel_wr_start, wr_start)                                                                 \
  CALL(falafel_wr_complete, wr_complete)                                                           \
  CALL(falafel_wr_abort, wr_abort)

// The C library: functions that never concern what the system has.
#define FALAFEL_LIBRARY_CALLS(CALL)                                                                \
  CALL(__gethostname_chk, __wrap___gethostname_chk)                                                \
  CALL(aligned_alloc, __wrap_aligned_alloc)                                                        \
  CALL(calloc, __wrap_calloc)                                                                      \
  CALL(clock, __wrap_clock)                                                                        \
  CALL(clock_getres, __wrap_clock_getres)                                                          \
  CALL(clock_nanosleep, __wrap_clock_nanosleep)                                                    \
  CALL(epoll_create, __wrap_epoll_create)                                                          \
  CALL(epoll_create1, __wrap_epoll_create1)                                                        \
  CALL(eventfd, __wrap_eventfd)                                                                    \
  CALL(free, __wrap_free)                                                                          \
  CALL(freeaddrinfo, __wrap_freeaddrinfo)                                                          \
  CALL(getaddrinfo, __wrap_getaddrinfo)                                                            \
  CALL(getentropy, __wrap_getentropy)                                                              \
  CALL(gethostbyname, __wrap_gethostbyname)                                                        \
  CALL(gethostname, __wrap_gethostname)                                                            \
  CALL(getpid, __wrap_getpid)                                                                      \
  CALL(getrandom, __wrap_getrandom)                                                                \
  CALL(lrand48, __wrap_lrand48)                                                                    \
  CALL(malloc, __wrap_malloc)                                                                      \
  CALL(malloc_usable_size, __wrap_malloc_usable_size)                                              \
  CALL(memalign, __wrap_memalign)                                                                  \
  CALL(mrand48, __wrap_mrand48)                                                                    \
  CALL(nanosleep, __wrap_nanosleep)                                                                \
  CALL(posix_memalign, __wrap_posix_memalign)                                                      \
  CALL(pselect, __wrap_pselect)                                                                    \
  CALL(rand, __wrap_rand)                                                                          \
  CALL(random, __wrap_random)                                                                      \
  CALL(realloc, __wrap_realloc)                                                                    \
  CALL(reallocarray, __wrap_reallocarray)                                                          \
  CALL(sched_yield, __wrap_sched_yield)                                                            \
  CALL(select, __wrap_select)                                                                      \
  CALL(sleep, __wrap_sleep)                                                                        \
  CALL(socket, __wrap_socket)                                                                      \
  CALL(srand, __wrap_srand)                                                                        \
  CALL(srand48, __wrap_srand48)                                                                    \
  CALL(srandom, __wrap_srandom)                                                                    \
  CALL(times, __wrap_times)                                                                        \
  CALL(timespec_get, __wrap_timespec_get)                                                          \
  CALL(usleep, __wrap_usleep)                                                                      \
  CALL(valloc, __wrap_valloc)

// The C library: functions whose first argument is a descriptor, which may be a simulated one. The
// third word is the system call that does the same for a real one.
#define FALAFEL_DESCRIPTOR_CALLS(CALL)                                                             \
  CALL(__read_chk, __wrap___read_chk, SYS_read)                                                    \
  CALL(accept, __wrap_accept, SYS_accept)                                                          \
  CALL(accept4, __wrap_accept4, SYS_accept4)                                                       \
  CALL(bind, __wrap_bind, SYS_bind)                                                                \
  CALL(close, __wrap_close, SYS_close)                                                             \
  CALL(connect, __wrap_connect, SYS_connect)                                                       \
  CALL(dup, __wrap_dup, SYS_dup)                                                                   \
  CALL(epoll_ctl, __wrap_epoll_ctl, SYS_epoll_ctl)                                                 \
  CALL(fcntl, __wrap_fcntl, SYS_fcntl)                                                             \
  CALL(fcntl64, __wrap_fcntl64, SYS_fcntl)                                                         \
  CALL(getpeername, __wrap_getpeername, SYS_getpeername)                                           \
  CALL(getsockname, __wrap_getsockname, SYS_getsockname)                                           \
  CALL(getsockopt, __wrap_getsockopt, SYS_getsockopt)                                              \
  CALL(ioctl, __wrap_ioctl, SYS_ioctl)                                                             \
  CALL(listen, __wrap_listen, SYS_listen)                                                          \
  CALL(read, __wrap_read, SYS_read)                                                                \
  CALL(readv, __wrap_readv, SYS_readv)                                                             \
  CALL(recvfrom, __wrap_recvfrom, SYS_recvfrom)                                                    \
  CALL(recvmsg, __wrap_recvmsg, SYS_recvmsg)                                                       \
  CALL(sendmsg, __wrap_sendmsg, SYS_sendmsg)                                                       \
  CALL(sendto, __wrap_sendto, SYS_sendto)                                                          \
  CALL(setsockopt, __wrap_setsockopt, SYS_setsockopt)                                              \
  CALL(shutdown, __wrap_shutdown, SYS_shutdown)                                                    \
  CALL(write, __wrap_write, SYS_write)                                                             \
  CALL(writev, __wrap_writev, SYS_writev)

// The C library: locks of threads. In the process, they are only names of what the simulator keeps.
#define FALAFEL_LOCK_CALLS(CALL)                                                                   \
  CALL(pthread_barrier_destroy, __wrap_pthread_barrier_destroy)                                    \
  CALL(pthread_barrier_init, __wrap_pthread_barrier_init)                                          \
  CALL(pthread_barrier_wait, __wrap_pthread_barrier_wait)                                          \
  CALL(pthread_cond_broadcast, __wrap_pthread_cond_broadcast)                                      \
  CALL(pthread_cond_clockwait, __wrap_pthread_cond_clockwait)                                      \
  CALL(pthread_cond_destroy, __wrap_pthread_cond_destroy)                                          \
  CALL(pthread_cond_init, __wrap_pthread_cond_init)                                                \
  CALL(pthread_cond_signal, __wrap_pthread_cond_signal)                                            \
  CALL(pthread_cond_timedwait, __wrap_pthread_cond_timedwait)                                      \
  CALL(pthread_cond_wait, __wrap_pthread_cond_wait)                                                \
  CALL(pthread_mutex_clocklock, __wrap_pthread_mutex_clocklock)                                    \
  CALL(pthread_mutex_destroy, __wrap_pthread_mutex_destroy)                                        \
  CALL(pthread_mutex_init, __wrap_pthread_mutex_init)                                              \
  CALL(pthread_mutex_lock, __wrap_pthread_mutex_lock)                                              \
  CALL(pthread_mutex_timedlock, __wrap_pthread_mutex_timedlock)                                    \
  CALL(pthread_mutex_trylock, __wrap_pthread_mutex_trylock)                                        \
  CALL(pthread_mutex_unlock, __wrap_pthread_mutex_unlock)                                          \
  CALL(pthread_rwlock_destroy, __wrap_pthread_rwlock_destroy)                                      \
  CALL(pthread_rwlock_init, __wrap_pthread_rwlock_init)                                            \
  CALL(pthread_rwlock_rdlock, __wrap_pthread_rwlock_rdlock)                                        \
  CALL(pthread_rwlock_timedrdlock, __wrap_pthread_rwlock_timedrdlock)                              \
  CALL(pthread_rwlock_timedwrlock, __wrap_pthread_rwlock_timedwrlock)                              \
  CALL(pthread_rwlock_tryrdlock, __wrap_pthread_rwlock_tryrdlock)                                  \
  CALL(pthread_rwlock_trywrlock, __wrap_pthread_rwlock_trywrlock)                                  \
  CALL(pthread_rwlock_unlock, __wrap_pthread_rwlock_unlock)                                        \
  CALL(pthread_rwlock_wrlock, __wrap_pthread_rwlock_wrlock)                                        \
  CALL(pthread_spin_destroy, __wrap_pthread_spin_destroy)                                          \
  CALL(pthread_spin_init, __wrap_pthread_spin_init)                                                \
  CALL(pthread_spin_lock, __wrap_pthread_spin_lock)                                                \
  CALL(pthread_spin_trylock, __wrap_pthread_spin_trylock)                                          \
  CALL(pthread_spin_unlock, __wrap_pthread_spin_unlock)                                            \
  CALL(sem_clockwait, __wrap_sem_clockwait)                                                        \
  CALL(sem_destroy, __wrap_sem_destroy)                                                            \
  CALL(sem_getvalue, __wrap_sem_getvalue)                                                          \
  CALL(sem_init, __wrap_sem_init)                                                                  \
  CALL(sem_post, __wrap_sem_post)                                                                  \
  CALL(sem_timedwait, __wrap_sem_timedwait)                                                        \
  CALL(sem_trywait, __wrap_sem_trywait)                                                            \
  CALL(sem_wait, __wrap_sem_wait)

// The C library: functions for which the program's side decides first.
#define FALAFEL_OTHER_CALLS(CALL)                                                                  \
  CALL(begin_once, falafel_begin_once)                                                             \
  CALL(clock_gettime, __wrap_clock_gettime)                                                        \
  CALL(detach_thread, falafel_detach_thread)                                                       \
  CALL(drand48, falafel_drand48_bits)                                                              \
  CALL(end_once, falafel_end_once)                                                                 \
  CALL(epoll_wait, __wrap_epoll_wait)                                                              \
  CALL(gettimeofday, __wrap_gettimeofday)                                                          \
  CALL(join_thread, falafel_join_thread)                                                           \
  CALL(let_others_go_on, falafel_let_others_go_on)                                                 \
  CALL(poll, __wrap_poll)                                                                          \
  CALL(read_time_stamp, falafel_read_time_stamp)                                                   \
  CALL(recv, __wrap_recv)                                                                          \
  CALL(send, __wrap_send)                                                                          \
  CALL(time, __wrap_time)                                                                          \
  CALL(try_join_thread, falafel_try_join_thread)                                                   \
  CALL(wait_for_change, falafel_wait_for_change)

namespace falafel::simulated_verbs {

enum class CallNumber : unsigned {
#define FALAFEL_NUMBER(name, ...) of_##name,
  FALAFEL_VERBS_CALLS(FALAFEL_NUMBER) FALAFEL_TEXT_CALLS(FALAFEL_NUMBER)
      FALAFEL_CONNECTION_CALLS(FALAFEL_NUMBER) FALAFEL_CONNECTION_TEXT_CALLS(FALAFEL_NUMBER)
          FALAFEL_OPERATION_CALLS(FALAFEL_NUMBER) FALAFEL_QUEUE_CALLS(FALAFEL_NUMBER)
              FALAFEL_BATCH_CALLS(FALAFEL_NUMBER) FALAFEL_LIBRARY_CALLS(FALAFEL_NUMBER)
                  FALAFEL_DESCRIPTOR_CALLS(FALAFEL_NUMBER) FALAFEL_LOCK_CALLS(FALAFEL_NUMBER)
                      FALAFEL_OTHER_CALLS(FALAFEL_NUMBER)
#undef FALAFEL_NUMBER
  // Not functions of the program.
  map_data,      // the program's own variables: address, bytes, offset in the file of data
  set_alarm,     // seconds; gives those that were left
  start_thread,  // 1 if it is detached; gives its number, or 0 if there are too many
  begin_thread,  // the first call of a thread
  end_thread,    // the last call of a thread; nobody answers
  end_process    // the process ends with its next system calls; nobody answers
};

}  // namespace falafel::simulated_verbs
