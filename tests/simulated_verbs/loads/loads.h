/* Programs that look at memory by plain loads, and change it by plain stores, without a call in
 * between. Each is a server and a client; with `cured`, the program is right. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* The server polls a word of its memory until the client's WRITE has changed it. */
int polled_flag_server(int cured);
int polled_flag_client(int cured);

/* The same by atomic loads. */
int atomic_flag_server(int cured);
int atomic_flag_client(int cured);

/* A thread of the server polls for another thread. */
int polled_thread_server(int cured);
int polled_thread_client(int cured);

/* A flag in front of its data, in one WRITE: the data is read too early. */
int flag_before_data_server(int cured);
int flag_before_data_client(int cured);

/* The flag is a WRITE of its own, behind that of the data: the processor may see it first. */
int flag_behind_data_server(int cured);
int flag_behind_data_client(int cured);

/* A buffer is changed, and changed back, while it is being sent. */
int borrowed_buffer_server(int cured);
int borrowed_buffer_client(int cured);

/* A record is copied while a WRITE changes it. */
int torn_copy_server(int cured);
int torn_copy_client(int cured);

#ifdef __cplusplus
}
#endif
