// The launcher's side of the board (see worker/board.h): made, read, and the
// gate opened here.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "base/fd.h"
#include "evidence/records.h"
#include "worker/board.h"

namespace rollcall::study {

class Board {
 public:
  static base::Result<Board> create(int workers, evidence::Exercise exercise, evidence::Workload workload);
  Board(Board&& other) noexcept;
  Board& operator=(Board&&) = delete;
  ~Board();

  [[nodiscard]] int fd() const { return fd_.get(); }
  // The stage that a worker has reached. What it posted before is visible then.
  [[nodiscard]] worker::StageCode stage(int worker) const;
  // When it finished (CLOCK_MONOTONIC); worker::kUnset if it has not.
  [[nodiscard]] int64_t finished_at_ns(int worker) const;

  void open_gate();
  void dismiss(int worker);

  // Copies what the worker posted into its record; moments are counted from
  // gate_opened_at_ns. What it did not post stays unset.
  void read(int worker, int64_t gate_opened_at_ns, evidence::WorkerRecord& record) const;

 private:
  Board(base::Fd fd, worker::BoardHeader* header, size_t size)
      : fd_(std::move(fd)), header_(header), size_(size) {}
  [[nodiscard]] worker::BoardSlot& slot(int worker) const { return worker::board_slots(header_)[worker]; }

  base::Fd fd_;
  worker::BoardHeader* header_;
  size_t size_;
};

}  // namespace rollcall::study
