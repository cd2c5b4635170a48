// How to reach an etcd that asks for more than an address.
#pragma once

#include <filesystem>
#include <string>

namespace falafel {

// Certificates are for endpoints with "https://". Empty members: nothing of this kind is needed.
struct EtcdAccess {
  // The authorities that may sign etcd's certificate, in PEM. Empty: those that this machine
  // trusts.
  std::filesystem::path ca_file{};
  // This client's own certificate and its key, in PEM, for an etcd that asks for one. Without a
  // file of its own, the key is in the file of the certificate.
  std::filesystem::path certificate_file{};
  std::filesystem::path certificate_key_file{};
  // A user of etcd and the file whose first line is the password. It is read whenever etcd wants
  // the password again, so it may be replaced.
  std::string user{};
  std::filesystem::path password_file{};
};

}  // namespace falafel
