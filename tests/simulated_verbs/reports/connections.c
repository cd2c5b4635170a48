/* Mistakes with connections by rdma_cm. */
#include <errno.h>
#include <netdb.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "reports.h"

enum { longest_wait_ms = 2000, own_port = 7471 };

/* The parameters of both sides: no READs, and a message that finds no receive request fails. */
static struct rdma_conn_param usual_parameters(void) {
  const struct rdma_conn_param parameters = {.retry_count = 7};
  return parameters;
}

static int create_queue_pair(struct rdma_cm_id *id) {
  struct ibv_qp_init_attr init = {
      .qp_type = IBV_QPT_RC,
      .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1}};
  return rdma_create_qp(id, NULL, &init);
}

/* Acknowledges the next event and returns its type. */
static enum rdma_cm_event_type next_event(struct rdma_event_channel *channel,
                                          struct rdma_cm_id **id) {
  struct rdma_cm_event *event = NULL;
  rdma_get_cm_event(channel, &event);
  const enum rdma_cm_event_type type = event->event;
  if (id != NULL) *id = event->id;
  rdma_ack_cm_event(event);
  return type;
}

static struct rdma_cm_id *listen_for_clients(struct rdma_event_channel *channel) {
  struct rdma_cm_id *id = NULL;
  struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(own_port)};
  if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) != 0) return NULL;
  if (rdma_bind_addr(id, (struct sockaddr *)&any) != 0 || rdma_listen(id, 4) != 0) return NULL;
  return id;
}

/* Begins to connect to the server. NULL if that fails. */
static struct rdma_cm_id *start_to_connect(void) {
  struct rdma_event_channel *channel = rdma_create_event_channel();
  struct addrinfo *found = NULL;
  if (getaddrinfo("server", "7471", NULL, &found) != 0) return NULL;
  struct rdma_cm_id *id = NULL;
  rdma_create_id(channel, &id, NULL, RDMA_PS_TCP);
  rdma_resolve_addr(id, NULL, found->ai_addr, longest_wait_ms);
  freeaddrinfo(found);
  if (next_event(channel, NULL) != RDMA_CM_EVENT_ADDR_RESOLVED) return NULL;
  rdma_resolve_route(id, longest_wait_ms);
  if (next_event(channel, NULL) != RDMA_CM_EVENT_ROUTE_RESOLVED) return NULL;
  struct rdma_conn_param parameters = usual_parameters();
  if (create_queue_pair(id) != 0 || rdma_connect(id, &parameters) != 0) return NULL;
  return id;
}

int unacknowledged_server(int cured) {
  (void)cured;
  struct rdma_event_channel *channel = rdma_create_event_channel();
  if (listen_for_clients(channel) == NULL) return 1;
  struct rdma_cm_id *id = NULL;
  if (next_event(channel, &id) != RDMA_CM_EVENT_CONNECT_REQUEST) return 1;
  rdma_reject(id, NULL, 0);
  return rdma_destroy_id(id);
}

int unacknowledged_client(int cured) {
  struct rdma_cm_id *id = start_to_connect();
  if (id == NULL) return 1;
  struct rdma_cm_event *event = NULL;
  rdma_get_cm_event(id->channel, &event);
  const int failed = event->event != RDMA_CM_EVENT_ESTABLISHED;
  if (!failed || cured) rdma_ack_cm_event(event); /* the error path forgets it */
  rdma_destroy_qp(id);
  return rdma_destroy_id(id);
}

int after_accept_server(int cured) {
  struct rdma_event_channel *channel = rdma_create_event_channel();
  if (listen_for_clients(channel) == NULL) return 1;
  struct rdma_cm_id *id = NULL;
  if (next_event(channel, &id) != RDMA_CM_EVENT_CONNECT_REQUEST) return 1;
  if (create_queue_pair(id) != 0) return 1;
  uint64_t *word = calloc(1, sizeof *word);
  struct ibv_mr *mr = rdma_reg_msgs(id, word, sizeof *word);
  if (cured) rdma_post_recv(id, NULL, word, sizeof *word, mr);
  struct rdma_conn_param parameters = usual_parameters();
  if (rdma_accept(id, &parameters) != 0) return 1;
  if (next_event(channel, NULL) != RDMA_CM_EVENT_ESTABLISHED) return 1;
  if (!cured) rdma_post_recv(id, NULL, word, sizeof *word, mr);
  return next_event(channel, NULL) == RDMA_CM_EVENT_DISCONNECTED ? 0 : 1;
}

int after_accept_client(int cured) {
  (void)cured;
  struct rdma_cm_id *id = start_to_connect();
  if (id == NULL || next_event(id->channel, NULL) != RDMA_CM_EVENT_ESTABLISHED) return 1;
  uint64_t word = 1;
  struct ibv_mr *mr = rdma_reg_msgs(id, &word, sizeof word);
  struct ibv_wc completion;
  if (rdma_post_send(id, NULL, &word, sizeof word, mr, IBV_SEND_SIGNALED) != 0) return 1;
  if (rdma_get_send_comp(id, &completion) != 1) return 1;
  return completion.status == IBV_WC_SUCCESS ? 0 : 2;
}

/* The server's answer: where the client may write. */
struct target {
  uint64_t address;
  uint32_t rkey;
  uint32_t is_last;
};

enum { targets = 2, longest_answer = 196 };

int private_length_server(int cured) {
  (void)cured;
  struct rdma_event_channel *channel = rdma_create_event_channel();
  if (listen_for_clients(channel) == NULL) return 1;
  struct rdma_cm_id *id = NULL;
  if (next_event(channel, &id) != RDMA_CM_EVENT_CONNECT_REQUEST) return 1;
  if (create_queue_pair(id) != 0) return 1;
  uint64_t *words = calloc(targets, sizeof *words);
  struct target answer[targets];
  for (int index = 0; index < targets; ++index) {
    const struct ibv_mr *mr = rdma_reg_write(id, &words[index], sizeof words[index]);
    answer[index] = (struct target){.address = (uintptr_t)&words[index],
                                    .rkey = mr->rkey,
                                    .is_last = index + 1 == targets};
  }
  struct rdma_conn_param parameters = usual_parameters();
  parameters.private_data = answer;
  parameters.private_data_len = sizeof answer;
  if (rdma_accept(id, &parameters) != 0) return 1;
  next_event(channel, NULL);
  return next_event(channel, NULL) == RDMA_CM_EVENT_DISCONNECTED ? 0 : 1;
}

int private_length_client(int cured) {
  struct rdma_cm_id *id = start_to_connect();
  if (id == NULL) return 1;
  struct rdma_cm_event *event = NULL;
  rdma_get_cm_event(id->channel, &event);
  if (event->event != RDMA_CM_EVENT_ESTABLISHED) return 1;
  struct target answer[longest_answer / sizeof(struct target)];
  memcpy(answer, event->param.conn.private_data, sizeof answer);
  unsigned count = event->param.conn.private_data_len / sizeof(struct target);
  rdma_ack_cm_event(event);
  for (unsigned index = 0; cured && index < count; ++index) {
    if (answer[index].is_last) count = index + 1;
  }
  uint64_t word = 1;
  struct ibv_mr *mr = rdma_reg_msgs(id, &word, sizeof word);
  for (unsigned index = 0; index < count; ++index) {
    struct ibv_wc completion;
    rdma_post_write(id, NULL, &word, sizeof word, mr, IBV_SEND_SIGNALED, answer[index].address,
                    answer[index].rkey);
    if (rdma_get_send_comp(id, &completion) != 1) return 1;
    if (completion.status != IBV_WC_SUCCESS) return 2; /* there is no such target */
  }
  return 0;
}

/* A connection of the server, in a pool. */
struct connection {
  struct rdma_cm_id *id;
  int is_taken;
  int is_open;
};

enum { pool_size = 2 };

static struct connection *take_connection(struct connection *pool, struct rdma_cm_id *id) {
  struct connection *taken = pool[0].is_taken ? &pool[1] : &pool[0];
  *taken = (struct connection){.id = id, .is_taken = 1, .is_open = 1};
  id->context = taken;
  return taken;
}

static int accept_connection(struct connection *pool, struct rdma_cm_id *id) {
  take_connection(pool, id);
  struct rdma_conn_param parameters = usual_parameters();
  return create_queue_pair(id) != 0 ? -1 : rdma_accept(id, &parameters);
}

/* Closes the first connection at once, and serves the second one. */
int late_event_server(int cured) {
  struct rdma_event_channel *channel = rdma_create_event_channel();
  if (listen_for_clients(channel) == NULL) return 1;
  struct connection pool[pool_size] = {{.id = NULL}};
  struct rdma_cm_id *second = NULL;
  int established = 0;
  int disconnected = 0;
  while (established < 2 || disconnected < 1) {
    struct rdma_cm_id *id = NULL;
    const enum rdma_cm_event_type type = next_event(channel, &id);
    if (type == RDMA_CM_EVENT_CONNECT_REQUEST && accept_connection(pool, id) != 0) return 1;
    struct connection *connection = id->context;
    if (type == RDMA_CM_EVENT_ESTABLISHED && ++established == 1) {
      if (rdma_disconnect(id) != 0) return 1;
      if (!cured) connection->is_taken = 0; /* although an event will come */
    } else if (type == RDMA_CM_EVENT_ESTABLISHED) {
      second = id;
    } else if (type == RDMA_CM_EVENT_DISCONNECTED) {
      ++disconnected;
      connection->is_taken = connection->is_open = 0;
    }
  }
  const struct connection *connection = second->context;
  return connection->id == second && connection->is_open ? 0 : 2;
}

int late_event_client(int cured) {
  (void)cured;
  struct rdma_cm_id *first = start_to_connect();
  if (first == NULL || next_event(first->channel, NULL) != RDMA_CM_EVENT_ESTABLISHED) return 1;
  struct rdma_cm_id *second = start_to_connect();
  if (second == NULL || next_event(second->channel, NULL) != RDMA_CM_EVENT_ESTABLISHED) return 1;
  if (next_event(first->channel, NULL) != RDMA_CM_EVENT_DISCONNECTED) return 1;
  return next_event(second->channel, NULL) == RDMA_CM_EVENT_DISCONNECTED ? 0 : 1;
}

/* A request for a connection, with the event that brought it. */
struct request {
  struct rdma_cm_event *event;
  struct rdma_cm_id *id;
};

static int accept_request(struct request *request, int cured) {
  struct rdma_conn_param parameters = usual_parameters();
  parameters.initiator_depth = 200; /* more than the device can do */
  const int result = rdma_accept(request->id, &parameters);
  rdma_ack_cm_event(request->event);
  if (cured) request->event = NULL;
  return result;
}

static void delete_request(struct request *request) {
  rdma_reject(request->id, NULL, 0);
  if (request->event != NULL) rdma_ack_cm_event(request->event);
  rdma_destroy_qp(request->id);
  rdma_destroy_id(request->id);
}

int acknowledged_twice_server(int cured) {
  struct rdma_event_channel *channel = rdma_create_event_channel();
  if (listen_for_clients(channel) == NULL) return 1;
  struct request request = {.event = NULL};
  rdma_get_cm_event(channel, &request.event);
  request.id = request.event->id;
  if (create_queue_pair(request.id) != 0) return 1;
  if (accept_request(&request, cured) != 0) delete_request(&request);
  return 0;
}

int acknowledged_twice_client(int cured) {
  (void)cured;
  struct rdma_cm_id *id = start_to_connect();
  if (id == NULL) return 1;
  return next_event(id->channel, NULL) == RDMA_CM_EVENT_REJECTED ? 0 : 1;
}
