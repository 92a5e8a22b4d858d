// simgpud against clients that do not keep to the protocol: they are dropped,
// and the others are served as before.
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>
#include <random>

#include "base/fd.h"
#include "simgpu/protocol.h"
#include "simgpu_support.h"

namespace rollcall::simgpu::test {
namespace {

class Raw {
 public:
  Raw() : fd_(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    strncpy(address.sun_path, getenv(kSocketVariable), sizeof address.sun_path - 1);
    EXPECT_EQ(connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0)
        << strerror(errno);
    const timeval patience{kPatienceMs / 1000, 0};
    setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  void send(const void* data, size_t size) { ::send(fd_.get(), data, size, MSG_NOSIGNAL); }
  void send(Operation operation, uint64_t object = 0, uint64_t size = 0, uint32_t gpu = 0) {
    Request request;
    request.operation = static_cast<uint16_t>(operation);
    request.object = object;
    request.size = size;
    request.gpu = gpu;
    send(&request, sizeof request);
  }
  // The reply's status; nothing if the daemon has closed the connection.
  std::optional<Status> receive() {
    char buffer[kMaxReplyBytes];
    const ssize_t length = recv(fd_.get(), buffer, sizeof buffer, 0);
    if (length <= 0) {
      EXPECT_NE(errno, EAGAIN) << "the daemon neither answers nor closes";
      return std::nullopt;
    }
    memcpy(&reply_, buffer, sizeof reply_);
    EXPECT_TRUE(well_formed(reply_, static_cast<size_t>(length)));
    return reply_.status;
  }
  std::optional<Status> call(Operation operation, uint64_t object = 0, uint64_t size = 0, uint32_t gpu = 0) {
    send(operation, object, size, gpu);
    return receive();
  }
  [[nodiscard]] const Reply& reply() const { return reply_; }

 private:
  base::Fd fd_;
  Reply reply_;
};

void expect_serving() {
  Raw client;
  EXPECT_EQ(client.call(Operation::kHello), Status::kOk);
  EXPECT_EQ(client.call(Operation::kCuInit), Status::kOk);
}

TEST(Daemon, ServesTheWholeLifeOfAContext) {
  const Node node;
  Raw client;
  EXPECT_EQ(client.call(Operation::kHello), Status::kOk);
  EXPECT_EQ(client.call(Operation::kContextCreate), Status::kNotInitialized);
  EXPECT_EQ(client.call(Operation::kCuInit), Status::kOk);
  EXPECT_EQ(client.call(Operation::kContextCreate), Status::kOk);
  const uint64_t context = client.reply().value;
  EXPECT_EQ(client.call(Operation::kMemoryAllocate, context, 1), Status::kOk);
  const uint64_t pointer = client.reply().value;
  EXPECT_EQ(client.call(Operation::kListProcesses), Status::kOk);
  EXPECT_EQ(client.reply().value, 1U);
  EXPECT_EQ(client.call(Operation::kMemoryFree, pointer), Status::kOk);
  EXPECT_EQ(client.call(Operation::kContextDestroy, context), Status::kOk);
  EXPECT_EQ(client.call(Operation::kListProcesses), Status::kOk);
  EXPECT_EQ(client.reply().value, 0U);
}

TEST(Daemon, RefusesObjectsThatAreNotThere) {
  const Node node;
  Raw client;
  EXPECT_EQ(client.call(Operation::kHello), Status::kOk);
  EXPECT_EQ(client.call(Operation::kCuInit), Status::kOk);
  EXPECT_EQ(client.call(Operation::kContextCreate, 0, 0, 1), Status::kUnknownObject);
  EXPECT_EQ(client.call(Operation::kContextCreate, 0, 0, UINT32_MAX), Status::kUnknownObject);
  EXPECT_EQ(client.call(Operation::kContextDestroy, 12345), Status::kUnknownObject);
  EXPECT_EQ(client.call(Operation::kMemoryAllocate, 12345, 1), Status::kUnknownObject);
  EXPECT_EQ(client.call(Operation::kMemoryFree, 12345), Status::kUnknownObject);
  EXPECT_EQ(client.call(Operation::kMemoryInfo, 0, 0, 7), Status::kUnknownObject);
  EXPECT_EQ(client.call(Operation::kListProcesses, 0, 0, 7), Status::kUnknownObject);
}

TEST(Daemon, ConnectionsOfOneProcessAreOneProcess) {
  const Node node;
  Raw first;
  EXPECT_EQ(first.call(Operation::kHello), Status::kOk);
  EXPECT_EQ(first.call(Operation::kCuInit), Status::kOk);
  {
    Raw second;
    EXPECT_EQ(second.call(Operation::kHello), Status::kOk);
    EXPECT_EQ(second.call(Operation::kContextCreate), Status::kOk);
  }
  // The context belongs to the process: it outlives the connection that made it.
  EXPECT_EQ(first.call(Operation::kListProcesses), Status::kOk);
  EXPECT_EQ(first.reply().value, 1U);
}

TEST(Daemon, WithItsLastConnectionAProcessLosesEverything) {
  const Node node;
  {
    Raw client;
    EXPECT_EQ(client.call(Operation::kHello), Status::kOk);
    EXPECT_EQ(client.call(Operation::kCuInit), Status::kOk);
    EXPECT_EQ(client.call(Operation::kContextCreate), Status::kOk);
  }
  EXPECT_TRUE(eventually([] {
    Raw client;
    return client.call(Operation::kHello) == Status::kOk &&
           client.call(Operation::kListProcesses) == Status::kOk && client.reply().value == 0;
  }));
}

TEST(Daemon, ShortLongAndEmptyPacketsEndTheirConnectionOnly) {
  const Node node;
  Raw bystander;
  EXPECT_EQ(bystander.call(Operation::kHello), Status::kOk);
  const std::string bytes(100'000, 'x');
  for (const size_t size :
       {size_t{0}, size_t{1}, sizeof(Request) - 1, sizeof(Request), sizeof(Request) + 1, bytes.size()}) {
    Raw client;
    client.send(bytes.data(), size);
    const auto status = client.receive();
    EXPECT_TRUE(!status || status == Status::kInvalid) << size;
    EXPECT_EQ(client.receive(), std::nullopt) << size;
  }
  EXPECT_EQ(bystander.call(Operation::kCuInit), Status::kOk);
  expect_serving();
}

TEST(Daemon, WrongOrderEndsTheConnection) {
  const Node node(profile_text("[cost.cuinit]\nserial_ms = 3600000\n"));
  Raw no_greeting;
  EXPECT_EQ(no_greeting.call(Operation::kCuInit), Status::kInvalid);
  EXPECT_EQ(no_greeting.receive(), std::nullopt);
  Raw two_greetings;
  EXPECT_EQ(two_greetings.call(Operation::kHello), Status::kOk);
  EXPECT_EQ(two_greetings.call(Operation::kHello), Status::kInvalid);
  EXPECT_EQ(two_greetings.receive(), std::nullopt);
  Raw impatient;
  EXPECT_EQ(impatient.call(Operation::kHello), Status::kOk);
  impatient.send(Operation::kCuInit);
  impatient.send(Operation::kListProcesses);  // without waiting for the answer
  EXPECT_EQ(impatient.receive(), Status::kInvalid);
  EXPECT_EQ(impatient.receive(), std::nullopt);
  Raw still;
  EXPECT_EQ(still.call(Operation::kHello), Status::kOk);
}

// Where threads are listed, a client says which of them called, and is believed
// only as far as the kernel bears it out.
TEST(Daemon, BelievesNoThreadThatIsNotTheClients) {
  const Node node(profile_text("[nvml]\nlists = \"thread\"\n"));
  for (const uint64_t claim : {uint64_t{0}, uint64_t{1}, static_cast<uint64_t>(getppid()),
                               uint64_t{INT32_MAX}, uint64_t{1} << 40, UINT64_MAX}) {
    Raw liar;
    EXPECT_EQ(liar.call(Operation::kHello), Status::kOk);
    EXPECT_EQ(liar.call(Operation::kCuInit, claim), Status::kInvalid) << claim;
    EXPECT_EQ(liar.receive(), std::nullopt) << claim;
  }
  Raw honest;
  EXPECT_EQ(honest.call(Operation::kHello), Status::kOk);
  EXPECT_EQ(honest.call(Operation::kCuInit, static_cast<uint64_t>(gettid())), Status::kOk);
}

TEST(Daemon, SurvivesGarbage) {
  const Node node;
  std::mt19937 random(4);
  for (int i = 0; i < 300; ++i) {
    Raw client;
    if (random() % 2 == 0) client.call(Operation::kHello);
    for (unsigned packet = 0; packet < random() % 4; ++packet) {
      Request request;
      auto* bytes = reinterpret_cast<unsigned char*>(&request);
      // Half of them garbage, half well-formed with wild arguments.
      const size_t from = random() % 2 == 0 ? 0 : offsetof(Request, object);
      for (size_t at = from; at < sizeof request; ++at) bytes[at] = static_cast<unsigned char>(random());
      if (from != 0)
        request.operation = static_cast<uint16_t>(1 + random() % static_cast<unsigned>(Operation::kLast));
      client.send(&request, random() % 8 == 0 ? random() % sizeof request : sizeof request);
    }
  }
  expect_serving();
}

TEST(Daemon, AClientThatNeverReadsIsDropped) {
  const Node node;
  Raw deaf;
  EXPECT_EQ(deaf.call(Operation::kHello), Status::kOk);
  for (int i = 0; i < 5000; ++i) deaf.send(Operation::kListProcesses);
  expect_serving();
}

TEST(Daemon, BoundsTheConnectionsOfOneProcess) {
  const Node node;
  std::vector<std::unique_ptr<Raw>> clients;
  for (int i = 0; i < 8; ++i) {
    clients.push_back(std::make_unique<Raw>());
    EXPECT_EQ(clients.back()->call(Operation::kHello), Status::kOk);
  }
  Raw one_more;
  EXPECT_EQ(one_more.call(Operation::kHello), Status::kTooManyClients);
  EXPECT_EQ(one_more.receive(), std::nullopt);
  clients.pop_back();
  EXPECT_TRUE(eventually([] {
    Raw client;
    return client.call(Operation::kHello) == Status::kOk;
  }));
}

TEST(Daemon, AnswersNoEarlierThanTheServiceEnds) {
  const Node node(profile_text("[cost.cuinit]\nparallel_ms = 20\nserial_ms = 10\n"));
  Raw client;
  EXPECT_EQ(client.call(Operation::kHello), Status::kOk);
  for (int i = 0; i < 20; ++i) {
    const int64_t start_ns = base::monotonic_ns();
    EXPECT_EQ(client.call(Operation::kCuInit), Status::kOk);
    EXPECT_GE(base::monotonic_ns() - start_ns, 30 * base::kNsPerMs);
  }
}

}  // namespace
}  // namespace rollcall::simgpu::test
