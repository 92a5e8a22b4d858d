// See board.h. A worker can scribble over its slot as it likes; nothing here
// trusts more of it than its types.
#include "study/board.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <optional>
#include <utility>

#include "base/futex.h"

namespace rollcall::study {

using worker::BoardHeader;
using worker::BoardSlot;

namespace {

worker::ExerciseCode to_code(evidence::Exercise exercise) {
  switch (exercise) {
    case evidence::Exercise::kCuInit:
      return worker::kExerciseCuInit;
    case evidence::Exercise::kProbe:
      return worker::kExerciseProbe;
    case evidence::Exercise::kNvmlInit:
      return worker::kExerciseNvmlInit;
  }
  return worker::kExerciseCuInit;
}

}  // namespace

base::Result<Board> Board::create(int workers, evidence::Exercise exercise, evidence::Workload workload) {
  const size_t size = worker::board_size_bytes(static_cast<uint32_t>(workers));
  base::Fd fd(memfd_create("rollcall-board", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.valid()) return base::system_failure("memfd", "make the board", errno);
  if (ftruncate(fd.get(), static_cast<off_t>(size)) != 0)
    return base::system_failure("memfd", "size the board", errno);
  // A worker has the descriptor: one that cut the file short would kill the launcher.
  if (fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return base::system_failure("memfd", "seal the board", errno);
  }
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (memory == MAP_FAILED) return base::system_failure("memfd", "map the board", errno);
  auto* header = new (memory) BoardHeader{};
  header->magic = worker::kBoardMagic;
  header->version = worker::kBoardVersion;
  header->workers = static_cast<uint32_t>(workers);
  header->workload =
      workload == evidence::Workload::kContext ? worker::kWorkloadContext : worker::kWorkloadInit;
  header->exercise = to_code(exercise);
  for (int i = 0; i < workers; ++i) {
    auto* slot = new (&worker::board_slots(header)[i]) BoardSlot{};
    for (int64_t* value : {&slot->load_ns, &slot->released_at_ns, &slot->resolve_ns, &slot->cuinit_ns,
                           &slot->context_ns, &slot->control_ns, &slot->finished_at_ns}) {
      *value = worker::kUnset;
    }
    slot->cuinit_result = worker::kUnsetResult;
    slot->context_result = worker::kUnsetResult;
    slot->control_result = worker::kUnsetResult;
  }
  return Board(std::move(fd), header, size);
}

Board::Board(Board&& other) noexcept
    : fd_(std::move(other.fd_)), header_(std::exchange(other.header_, nullptr)), size_(other.size_) {}

Board::~Board() {
  if (header_ != nullptr) munmap(static_cast<void*>(header_), size_);
}

worker::StageCode Board::stage(int worker) const {
  return static_cast<worker::StageCode>(slot(worker).stage.load(std::memory_order_acquire));
}

int64_t Board::finished_at_ns(int worker) const {
  return slot(worker).finished_at_ns;
}

void Board::open_gate() {
  header_->gate.store(1, std::memory_order_release);
  base::futex_wake(&header_->gate);
}

void Board::dismiss(int worker) {
  slot(worker).leave.store(1, std::memory_order_release);
  base::futex_wake(&slot(worker).leave);
}

namespace {

std::optional<int64_t> measured(int64_t value) {
  return value == worker::kUnset ? std::nullopt : std::optional<int64_t>(value);
}

std::optional<int64_t> moment(int64_t value, int64_t origin_ns) {
  return value == worker::kUnset ? std::nullopt : std::optional<int64_t>(value - origin_ns);
}

std::optional<int> result(int32_t value) {
  return value == worker::kUnsetResult ? std::nullopt : std::optional<int>(value);
}

evidence::Stage to_stage(worker::StageCode code) {
  switch (code) {
    case worker::kStageStarted:
      return evidence::Stage::kStarted;
    case worker::kStageReady:
      return evidence::Stage::kReady;
    case worker::kStageReleased:
      return evidence::Stage::kReleased;
    case worker::kStageInitialised:
      return evidence::Stage::kInitialised;
    case worker::kStageFinished:
      return evidence::Stage::kFinished;
    case worker::kStageNone:
      break;
  }
  return evidence::Stage::kNone;
}

}  // namespace

void Board::read(int worker, int64_t gate_opened_at_ns, evidence::WorkerRecord& record) const {
  record.stage = to_stage(stage(worker));
  const BoardSlot& from = slot(worker);
  record.load_ns = measured(from.load_ns);
  record.released_ns = moment(from.released_at_ns, gate_opened_at_ns);
  record.resolve_ns = measured(from.resolve_ns);
  record.cuinit_ns = measured(from.cuinit_ns);
  record.cuinit_result = result(from.cuinit_result);
  record.context_ns = measured(from.context_ns);
  record.context_result = result(from.context_result);
  record.control_ns = measured(from.control_ns);
  record.control_result = result(from.control_result);
  record.finished_ns = moment(from.finished_at_ns, gate_opened_at_ns);
  record.error.assign(from.error, strnlen(from.error, sizeof from.error));
}

}  // namespace rollcall::study
