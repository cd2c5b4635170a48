/* Mistakes of public programs, each as a server and a client. With `cured`, the program is right.
 * A program returns 0, or another number if it has seen that something went wrong. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* nfs-ganesha, pull request 14; Mooncake, pull request 1567: a buffer is used again before the
 * message that it contains has been sent. */
int buffer_reuse_server(int cured);
int buffer_reuse_client(int cured);

/* brpc, issue 3415: completions that arrive between the last poll and the arming raise no event. */
int armed_late_server(int cured);
int armed_late_client(int cured);

/* brpc, issue 3132; libfabric, pull request 824: requests without completions fill the queue. */
int full_queue_server(int cured);
int full_queue_client(int cured);

/* RDMA-example-application, issue 1; thunderbolt-ibverbs, pull request 71: a message arrives before
 * the receive request has been posted. */
int late_receive_server(int cured);
int late_receive_client(int cured);

/* Mooncake, pull request 1567: RESET drops the receive requests, and nobody posts them again. */
int lost_receives_server(int cured);
int lost_receives_client(int cured);

/* chimera, issue 1064: the answer that the data is there overtakes the data. */
int early_answer_server(int cured);
int early_answer_client(int cured);

/* DeepEP, pull request 310: the last WRITE of a round lands in the next one. */
int late_write_server(int cured);
int late_write_client(int cured);

/* tensorpipe, pull request 416; libfabric, issue 5653: the opcode of a failed completion. */
int failed_opcode_server(int cured);
int failed_opcode_client(int cured);

/* nbs, issue 5729: the buffer of a request that timed out serves another one, and the server reads
 * it for the first. */
int timed_out_buffer_server(int cured);
int timed_out_buffer_client(int cured);

/* uccl, issue 267: more inline data than was agreed, and nobody looks at the result. */
int inline_limit_server(int cured);
int inline_limit_client(int cured);

/* nccl-mesh-plugin, pull request 12; rocSHMEM, pull request 214: the largest MTU that exists is
 * used, whatever the ports can send. */
int fixed_mtu_server(int cured);
int fixed_mtu_client(int cured);

/* rdma-example, pull request 4: the peer gets the local key of a region. */
int local_key_server(int cured);
int local_key_client(int cured);

/* SPDK, issue 1697; ceph, pull request 25447: a queue pair is destroyed before it has given back
 * what it took from a shared receive queue, and the receive requests are lost. */
int lost_shared_receives_server(int cured);
int lost_shared_receives_client(int cured);

/* perftest, pull request 60; PureFlash, issue 52: an event without acknowledgement blocks the
 * destruction of its identifier. */
int unacknowledged_server(int cured);
int unacknowledged_client(int cured);

/* RDMA-example, issue 4; rpma, pull request 350: the receive request is posted after rdma_accept,
 * and the message is there before. */
int after_accept_server(int cured);
int after_accept_client(int cured);

/* libfabric, pull request 3490; rpma, issue 184: private data is longer than what was sent. */
int private_length_server(int cured);
int private_length_client(int cured);

/* libevpl, pull request 52; ldms, pull request 556: the memory of a closed connection serves
 * another one, and an event of the first arrives. */
int late_event_server(int cured);
int late_event_client(int cured);

/* rpma, pull request 1702: the error path acknowledges an event again. */
int acknowledged_twice_server(int cured);
int acknowledged_twice_client(int cured);

#ifdef __cplusplus
}
#endif
