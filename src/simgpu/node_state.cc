// Memory is accounted and never mapped: device pointers are numbers from a
// range per GPU that no process has mapped, and are not used twice.
#include "simgpu/node_state.h"

namespace rollcall::simgpu {
namespace {

// Where the driver of a 64-bit process commonly puts device memory; each GPU
// gets a range that its pointers cannot outgrow.
constexpr uint64_t kFirstPointer = 0x7f00'0000'0000ULL;
constexpr uint64_t kPointersPerGpu = 0x1'0000'0000'0000ULL;

}  // namespace

NodeState::NodeState(const DeviceSizes& sizes) : sizes_(sizes), devices_(sizes.gpus) {
  for (size_t gpu = 0; gpu < devices_.size(); ++gpu) {
    devices_[gpu].next_pointer = kFirstPointer + gpu * kPointersPerGpu;
  }
}

void NodeState::add_process(ProcessId process) {
  processes_.try_emplace(process);
}

void NodeState::remove_process(ProcessId process) {
  const auto found = processes_.find(process);
  if (found == processes_.end()) return;
  while (!found->second.contexts.empty()) {
    drop_context(process, found->second, found->second.contexts.begin()->first);
  }
  if (found->second.initialised) --initialised_processes_;
  processes_.erase(found);
}

void NodeState::initialise(ProcessId process) {
  const auto found = processes_.find(process);
  if (found == processes_.end() || found->second.initialised) return;
  found->second.initialised = true;
  ++initialised_processes_;
}

bool NodeState::initialised(ProcessId process) const {
  const auto found = processes_.find(process);
  return found != processes_.end() && found->second.initialised;
}

NodeState::Created NodeState::create_context(ProcessId id, unsigned gpu) {
  if (!initialised(id)) return {Status::kNotInitialized, 0};
  if (!has_gpu(gpu)) return {Status::kUnknownObject, 0};
  Process& process = processes_.at(id);
  Device& device = devices_[gpu];
  if (process.contexts.size() >= kMaxContextsPerProcess) return {Status::kOutOfMemory, 0};
  if (sizes_.context_bytes > free_bytes(gpu)) return {Status::kOutOfMemory, 0};
  const uint64_t name = next_name_++;
  process.contexts.emplace(name, Context{gpu});
  const auto [resident, is_new] = device.residents.try_emplace(id);
  if (is_new) {
    resident->second.order = name;
    device.order.emplace(name, id);
  }
  ++resident->second.contexts;
  take(device, id, sizes_.context_bytes);
  ++contexts_;
  return {Status::kOk, name};
}

Status NodeState::destroy_context(ProcessId id, uint64_t context) {
  const auto process = processes_.find(id);
  if (process == processes_.end() || !process->second.contexts.contains(context))
    return Status::kUnknownObject;
  drop_context(id, process->second, context);
  return Status::kOk;
}

void NodeState::drop_context(ProcessId id, Process& process, uint64_t context) {
  Device& device = devices_[process.contexts.at(context).gpu];
  for (auto it = process.allocations.begin(); it != process.allocations.end();) {
    if (it->second.context == context) {
      give_back(device, id, it->second.bytes);
      it = process.allocations.erase(it);
    } else {
      ++it;
    }
  }
  give_back(device, id, sizes_.context_bytes);
  process.contexts.erase(context);
  --contexts_;
  Residence& residence = device.residents.at(id);
  if (--residence.contexts == 0) {
    device.order.erase(residence.order);
    device.residents.erase(id);
  }
}

NodeState::Created NodeState::allocate(ProcessId id, uint64_t context, uint64_t bytes) {
  const auto found = processes_.find(id);
  if (found == processes_.end() || !found->second.contexts.contains(context))
    return {Status::kUnknownObject, 0};
  Process& process = found->second;
  const unsigned gpu = process.contexts.at(context).gpu;
  Device& device = devices_[gpu];
  const uint64_t available = free_bytes(gpu);
  // Compared before rounding up, which could overflow.
  if (bytes == 0) return {Status::kUnknownObject, 0};
  if (bytes > available || process.allocations.size() >= kMaxAllocationsPerProcess) {
    return {Status::kOutOfMemory, 0};
  }
  const uint64_t granularity = sizes_.granularity_bytes;
  const uint64_t rounded = (bytes + granularity - 1) / granularity * granularity;
  if (rounded > available) return {Status::kOutOfMemory, 0};
  const uint64_t pointer = device.next_pointer;
  device.next_pointer += rounded;
  process.allocations.emplace(pointer, Allocation{context, rounded});
  take(device, id, rounded);
  return {Status::kOk, pointer};
}

Status NodeState::release(ProcessId id, uint64_t pointer) {
  const auto found = processes_.find(id);
  if (found == processes_.end()) return Status::kUnknownObject;
  const auto allocation = found->second.allocations.find(pointer);
  if (allocation == found->second.allocations.end()) return Status::kUnknownObject;
  const unsigned gpu = found->second.contexts.at(allocation->second.context).gpu;
  give_back(devices_[gpu], id, allocation->second.bytes);
  found->second.allocations.erase(allocation);
  return Status::kOk;
}

std::vector<NodeState::Listed> NodeState::list(unsigned gpu) const {
  const Device& device = devices_[gpu];
  std::vector<Listed> result;
  result.reserve(device.order.size());
  for (const auto& [order, process] : device.order) {
    result.push_back({process, device.residents.at(process).used_bytes});
  }
  return result;
}

void NodeState::take(Device& device, ProcessId process, uint64_t bytes) {
  device.used_bytes += bytes;
  device.residents.at(process).used_bytes += bytes;
}

void NodeState::give_back(Device& device, ProcessId process, uint64_t bytes) {
  device.used_bytes -= bytes;
  device.residents.at(process).used_bytes -= bytes;
}

}  // namespace rollcall::simgpu
