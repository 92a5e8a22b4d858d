// The daemon itself: one thread, one epoll, every client of the node. It turns
// packets into operations of the timing model, applies their effects to the
// node's state when the model says that they end, and answers then.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/fd.h"
#include "evidence/records.h"
#include "simgpu/namespace_view.h"
#include "simgpu/node_state.h"
#include "simgpu/profile.h"
#include "simgpu/protocol.h"
#include "simgpu/service_model.h"

namespace rollcall::simgpu {

struct ServerOptions {
  Profile profile;
  evidence::NvmlView view = evidence::NvmlView::kGlobal;
  double time_scale = 1;
  uint64_t seed = 0;
  int max_clients = kDefaultMaxClients;
};

class Server {
 public:
  // `listener` is a listening, non-blocking socket; `lifeline` may be invalid.
  static base::Result<std::unique_ptr<Server>> create(ServerOptions options, base::Fd listener,
                                                      base::Fd lifeline);

  // Serves until SIGTERM, SIGINT or the end of the lifeline. SIGTERM and SIGINT
  // must be blocked.
  base::Result<void> run();

 private:
  // What an epoll event is about; it stands in the event beside a number.
  enum class Source : uint8_t { kListener, kSignals, kLifeline, kTimer, kProcess, kConnection };
  struct Connection {
    base::Fd fd;
    uint64_t process = 0;  // 0: refused
    Status refusal = Status::kOk;
    bool greeted = false;
    bool busy = false;  // its request is under way
    Request request;
    Order order = Order::kNone;
    bool must_fail = false;
    NameChain caller;  // of the thread whose cuInit is under way; empty: of the process
  };
  struct Process {
    pid_t pid = 0;
    uint64_t start_time = 0;
    base::Fd pidfd;
    NameChain names;
    NameChain listed;  // what NVML lists it as: its own names, or those of a thread of it
    int connections = 0;
  };

  Server(ServerOptions options, base::Fd listener, base::Fd lifeline);
  base::Result<void> set_up();
  base::Result<void> watch(int fd, Source source, uint64_t number);

  void accept_clients();
  void admit(base::Fd fd);
  base::Result<uint64_t> process_of(int fd, Status& refusal);
  void receive(uint64_t number);
  void begin(uint64_t number, Connection& connection);
  bool plan_listing(Connection& connection);
  void plan_fault(Connection& connection);
  [[nodiscard]] const OperationCost& cost_of(Operation operation) const;
  void complete_due();
  void complete(uint64_t number);
  Status apply(Connection& connection, Reply& reply, std::string& payload);
  void list_processes(const Connection& connection, Reply& reply, std::string& payload) const;
  void answer(uint64_t number, Reply reply, const std::string& payload);
  void drop_connection(uint64_t number);
  void process_died(uint64_t number);
  void set_timer();
  void report(const std::string& line);

  ServerOptions options_;
  NodeInfo info_;
  NodeState state_;
  ServiceModel model_;
  base::Fd listener_;
  base::Fd lifeline_;
  base::Fd epoll_;
  base::Fd timer_;
  base::Fd signals_;
  base::Fd spare_;  // given up for a moment when there are no descriptors left
  std::map<uint64_t, Connection> connections_;
  std::map<uint64_t, Process> processes_;
  std::map<pid_t, uint64_t> process_by_pid_;
  uint64_t next_number_ = 1;
  int cuinits_ = 0;
  int reported_ = 0;
  int64_t timer_set_for_ns_ = 0;
};

}  // namespace rollcall::simgpu
