// One in-process implementation as a driver: requests in, answers out.
#ifndef WEIGHTPROOF_CONFORMANCE_HOST_H_
#define WEIGHTPROOF_CONFORMANCE_HOST_H_

#include <cstdint>
#include <expected>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "impls/abi.h"

namespace weightproof::conformance {

using Json = nlohmann::json;

// Answers the requests of the driver protocol through a table of the C ABI.
// A request that makes no sense gets {"id","status":"error","detail"}; no
// request ends the process (the implementation behind the table may).
class Host {
 public:
  // implementation must outlive the host. leak_at_load: what opening it left of
  // the floating-point environment, already undone; it goes into every answer
  // as "fp_leak".
  explicit Host(const wp_implementation* implementation,
                std::string leak_at_load = "");

  // The answer to one request line, without a newline.
  std::string Handle(std::string_view line);

 private:
  Json Dispatch(const Json& request);
  Json Hello() const;
  // A call that may leave the floating-point environment changed: what it
  // left goes into the answer as "fp_leak", and is undone.
  template <typename Call>
  Json Guarded(Call call);

  const wp_implementation* implementation_;
  std::string leak_at_load_;
  std::vector<std::string> operations_;
  std::vector<std::string> dump_fields_;
};

// ---- the operations, each from a request to an answer without an id ----

// Whether the table has the operation; operation names as in the protocol.
bool Offers(const wp_implementation& implementation,
            std::string_view operation);

Json HostGgufParse(const wp_implementation& implementation,
                   const std::vector<std::string>& dump_fields,
                   const Json& request);
Json HostGgufTensor(const wp_implementation& implementation,
                    const Json& request);
Json HostGgufGet(const wp_implementation& implementation, const Json& request);
Json HostGgufOpenSet(const wp_implementation& implementation,
                     const std::vector<std::string>& dump_fields,
                     const Json& request);
Json HostGgufCheck(const wp_implementation& implementation,
                   const Json& request);
Json HostGgufWrite(const wp_implementation& implementation,
                   const Json& request);
// q8_0.*, q8_1.*, f16.*.
Json HostNumeric(const wp_implementation& implementation,
                 std::string_view operation, const Json& request);

// ---- pieces they share ----

// The file of version 3 that a request of gguf.write describes. The error says
// what is wrong with the request.
std::expected<std::string, std::string> EncodeContents(const Json& request);

Json ErrorAnswer(std::string_view detail);
Json NotRunAnswer(std::string_view why);
wp_answer EmptyAnswer();
// What the table said, in the protocol's words; members for an accept are
// added by the caller.
Json FromAbi(const wp_answer& answer);

}  // namespace weightproof::conformance

#endif  // WEIGHTPROOF_CONFORMANCE_HOST_H_
