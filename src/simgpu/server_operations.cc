// What the operations mean. All but the greeting go through the timing model,
// even those that cost nothing, so that their effects happen in the order of
// the model's time; each takes effect when its service ends, and is answered then.
#include <sys/socket.h>

#include <limits>

#include "base/clock.h"
#include "gpu/abi.h"
#include "simgpu/peer.h"
#include "simgpu/server.h"

namespace rollcall::simgpu {

void Server::begin(uint64_t number, Connection& connection) {
  const auto operation = static_cast<Operation>(connection.request.operation);
  if ((operation == Operation::kHello) == connection.greeted) {
    Reply refusal;
    refusal.status = Status::kInvalid;
    answer(number, refusal, {});
    return drop_connection(number);
  }
  if (operation == Operation::kHello) {
    connection.greeted = true;
    return answer(number, {}, std::string(reinterpret_cast<const char*>(&info_), sizeof info_));
  }
  connection.busy = true;
  connection.order = Order::kNone;
  connection.must_fail = false;
  if (operation == Operation::kCuInit) {
    if (!plan_listing(connection)) {
      Reply refusal;
      refusal.status = Status::kInvalid;
      answer(number, refusal, {});
      return drop_connection(number);
    }
    plan_fault(connection);
  }
  model_.submit(number, 0, cost_of(operation), base::monotonic_ns());
}

// Some drivers list the thread that opened the device. Which thread that is only
// the client can say; it is believed if the kernel knows such a thread of it,
// now, while that thread waits for our answer.
bool Server::plan_listing(Connection& connection) {
  connection.caller.clear();
  if (!options_.profile.nvml.lists_threads) return true;
  const Process& process = processes_.at(connection.process);
  const uint64_t claimed = connection.request.object;
  if (claimed == 0 || claimed > static_cast<uint64_t>(std::numeric_limits<pid_t>::max())) return false;
  auto caller = read_thread_chain(process.pid, process.names, static_cast<pid_t>(claimed));
  if (!caller) {
    report("simgpud: " + caller.error().line());
    return false;
  }
  connection.caller = std::move(*caller);
  return true;
}

// Faults count the calls in the order in which they reach the node.
void Server::plan_fault(Connection& connection) {
  ++cuinits_;
  for (const Fault& fault : options_.profile.faults) {
    if (fault.nth_cuinit != cuinits_) continue;
    switch (fault.action) {
      case FaultAction::kCrash:
        connection.order = Order::kCrash;
        return;
      case FaultAction::kStop:
        connection.order = Order::kStop;
        return;
      case FaultAction::kExit:
        connection.order = Order::kExit;
        return;
      case FaultAction::kKill:
        connection.order = Order::kKill;
        return;
      case FaultAction::kFail:
        connection.must_fail = true;
        return;
    }
  }
}

const OperationCost& Server::cost_of(Operation operation) const {
  const Profile& profile = options_.profile;
  switch (operation) {
    case Operation::kCuInit:
      return profile.cuinit;
    case Operation::kContextCreate:
      return profile.context_create;
    case Operation::kContextDestroy:
      return profile.context_destroy;
    case Operation::kMemoryAllocate:
    case Operation::kMemoryFree:
      return profile.memory;
    case Operation::kNvmlInit:
      return profile.nvml_init;
    case Operation::kHello:
    case Operation::kMemoryInfo:
    case Operation::kListProcesses:
      break;
  }
  return profile.nvml_query;
}

void Server::complete_due() {
  const int64_t now_ns = base::monotonic_ns();
  for (;;) {
    const auto done = model_.advance(now_ns, {state_.initialised_processes(), state_.contexts()});
    if (!done) return;
    complete(done->owner);
  }
}

void Server::complete(uint64_t number) {
  Connection& connection = connections_.at(number);
  connection.busy = false;
  Reply reply;
  std::string payload;
  reply.status = apply(connection, reply, payload);
  answer(number, reply, payload);
}

Status Server::apply(Connection& connection, Reply& reply, std::string& payload) {
  const Request& request = connection.request;
  const uint64_t process = connection.process;
  const auto created = [&reply](const NodeState::Created& result) {
    reply.value = result.name;
    return result.status;
  };
  switch (static_cast<Operation>(request.operation)) {
    case Operation::kCuInit:
      if (connection.must_fail) return Status::kFailed;
      state_.initialise(process);
      if (!connection.caller.empty()) processes_.at(process).listed = std::move(connection.caller);
      reply.order = connection.order;
      return Status::kOk;
    case Operation::kContextCreate:
      return created(state_.create_context(process, request.gpu));
    case Operation::kContextDestroy:
      return state_.destroy_context(process, request.object);
    case Operation::kMemoryAllocate:
      return created(state_.allocate(process, request.object, request.size));
    case Operation::kMemoryFree:
      return state_.release(process, request.object);
    case Operation::kMemoryInfo:
      if (!state_.has_gpu(request.gpu)) return Status::kUnknownObject;
      reply.value = state_.free_bytes(request.gpu);
      reply.value2 = state_.total_bytes();
      return Status::kOk;
    case Operation::kListProcesses:
      if (!state_.has_gpu(request.gpu)) return Status::kUnknownObject;
      list_processes(connection, reply, payload);
      return Status::kOk;
    case Operation::kNvmlInit:
      return options_.profile.nvml.refuse ? Status::kNoPermission : Status::kOk;
    case Operation::kHello:
      break;
  }
  return Status::kOk;
}

// Those that the caller can see, the oldest first, as many as NVML returns.
void Server::list_processes(const Connection& connection, Reply& reply, std::string& payload) const {
  const NameChain& caller = processes_.at(connection.process).names;
  const bool memory_known = options_.profile.nvml.process_memory;
  for (const NodeState::Listed& listed : state_.list(connection.request.gpu)) {
    if (reply.value == kMaxListEntries) return;
    const auto pid = visible_pid(options_.view, processes_.at(listed.process).listed, caller);
    if (!pid) continue;
    const ListEntry entry{static_cast<uint32_t>(*pid), 0,
                          memory_known ? listed.used_bytes : gpu::kNvmlMemoryNotAvailable};
    payload.append(reinterpret_cast<const char*>(&entry), sizeof entry);
    ++reply.value;
  }
}

// A client that does not read its answers is not waited for.
void Server::answer(uint64_t number, Reply reply, const std::string& payload) {
  const auto found = connections_.find(number);
  if (found == connections_.end()) return;
  reply.payload_bytes = static_cast<uint32_t>(payload.size());
  std::string packet(reinterpret_cast<const char*>(&reply), sizeof reply);
  packet += payload;
  const ssize_t sent =
      send(found->second.fd.get(), packet.data(), packet.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent != static_cast<ssize_t>(packet.size())) drop_connection(number);
}

}  // namespace rollcall::simgpu
