/* Three hosts in a chain, each of them this program: the last one writes a number into the static
 * buffer of the one in the middle, which adds its own and passes both on. As programs do, it keeps
 * all that it has in global variables, and takes for granted how they begin.
 *
 * Usage: chain [-n number] [-l] [host]     -l: another host connects to this one
 *        chain -r                          waits, and looks whether it has been here before */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../reports/side.h"

enum { words = 512, sides = 2 };

static uint64_t buffer[words] __attribute__((aligned(4096)));
static struct side all_sides[sides];
static int opened;
static const char *server;
static int listens;
uint64_t number = 100;
uint64_t *own_number = &number;

static struct side *open_next(void) {
  struct side *side = &all_sides[opened++];
  if (open_side(side, 0) != 0) return NULL;
  /* The half of the static buffer in place of that of the heap. */
  side->buffer = buffer + (opened - 1) * (words / sides);
  side->mr = ibv_reg_mr(side->pd, side->buffer, sizeof buffer / sides,
                        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  return side->mr == NULL ? NULL : side;
}

static int receive_number(void) {
  struct side *side = open_next();
  if (side == NULL || post_receive(side, 8, 8) != 0 || meet(side, NULL) != 0) return 1;
  if (wait_for_completion(side).status != IBV_WC_SUCCESS) return 1;
  *own_number += side->buffer[1];
  tell(side, 'd');
  hear(side);
  return 0;
}

static int pass_number_on(void) {
  struct side *side = open_next();
  if (side == NULL || meet(side, server) != 0) return 1;
  side->buffer[0] = *own_number;
  if (post(side, IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, 0, 8, 1) != 0) return 1;
  if (post(side, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 8, 0) != 0) return 1;
  if (wait_for_completion(side).status != IBV_WC_SUCCESS) return 1;
  if (wait_for_completion(side).status != IBV_WC_SUCCESS) return 1;
  hear(side);
  tell(side, 'e');
  return 0;
}

static int wait_for_restart(void) {
  if (opened++ != 0) return 2; /* it has been here before */
  for (;;) usleep(10);
}

int main(int argc, char **argv) {
  if (opened != 0 || number != 100 || buffer[1] != 0) return 3;
  uint64_t added = 0;
  for (int option = getopt(argc, argv, "n:lr"); option != -1; option = getopt(argc, argv, "n:lr")) {
    if (option == 'r') return wait_for_restart();
    if (option == 'l') listens = 1;
    if (option == 'n') added = strtoul(optarg, NULL, 10);
  }
  if (optind < argc) server = argv[optind];
  number += added;
  if (listens && receive_number() != 0) return 1;
  if (server != NULL) return pass_number_on();
  return number == 306 ? 0 : 4; /* three times 100, and 1, 2 and 3 */
}
