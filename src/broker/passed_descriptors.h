// A client can send open files along with its bytes. Nobody here takes them, so the kernel
// closes them for us: and the closing of one may wait, as that of a TCP connection with
// SO_LINGER does for what its peer has not read. That would let any client stop the broker
// for as long as it likes. Linux 6.16 can refuse them; before that, a signal that comes
// again and again ends each such wait.
#pragma once

namespace rollcall::broker {

// On a listener: who connects to it can send none. Without effect before Linux 6.16.
void refuse_passed_descriptors(int listener);
bool takes_passed_descriptors(int socket);

// Waits that a signal can end are ended after a few milliseconds, while this is started. It
// takes SIGALRM and the real-time interval timer of the process.
class Interrupter {
 public:
  void prepare();
  void start() const;
  void stop() const;

 private:
  bool prepared_ = false;
};

}  // namespace rollcall::broker
