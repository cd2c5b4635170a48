// Opens and closes the device of a process. An open device is a context, which refers to the
// functions behind the inline functions of verbs.h, and has a descriptor of its asynchronous
// events.
#pragma once

namespace falafel::simulated_verbs {

class Sockets;
class VerbsObjects;
struct Context;

Context& open_device(VerbsObjects& objects, Sockets& sockets);
// Destroys what the program has left in the context.
void close_device(Context& context, VerbsObjects& objects, Sockets& sockets);

}  // namespace falafel::simulated_verbs
