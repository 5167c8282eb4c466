// A plugin for the OpenCL simulator Oclgrind that writes the accesses of every thread to global memory,
// in Wavecast's own table (docs/trace.md). README.md beside this file says how it is built and used.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <stack>
#include <string>
#include <unordered_map>
#include <vector>

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include <oclgrind/Context.h>
#include <oclgrind/Kernel.h>
#include <oclgrind/KernelInvocation.h>
#include <oclgrind/Memory.h>
#include <oclgrind/Plugin.h>
#include <oclgrind/WorkGroup.h>
#include <oclgrind/WorkItem.h>

using namespace oclgrind;

namespace {

// Where the first buffer lies and how buffers are aligned: as `wavecast trace synth` lays out arrays.
const uint64_t BASE = 0x200000;
const uint64_t ALIGN = 256;
// Bytes of one entry of the table at most.
const uint64_t MOST_BYTES = 32768;

const char *setting(const char *name) {
  const char *value = std::getenv(name);
  return value && *value ? value : nullptr;
}

// Oclgrind's addresses are `buffer << 48 | offset`, of which the sets of a cache would see the offset
// alone. Buffers are put behind each other instead, in the order in which they were made.
class Layout {
public:
  explicit Layout(uint64_t align) : align(align), next(BASE) {}

  void add(uint64_t buffer, uint64_t size) {
    next = (next + align - 1) / align * align;
    bases[buffer] = next;
    next += size;
  }

  // None for memory that was never made: an access that Oclgrind refuses.
  bool place(uint64_t buffer, uint64_t offset, uint64_t &address) const {
    auto known = bases.find(buffer);
    if (known == bases.end())
      return false;
    address = known->second + offset;
    return true;
  }

private:
  uint64_t align, next;
  std::unordered_map<uint64_t, uint64_t> bases;
};

// The instructions and loops of a function that touches memory.
struct Code {
  llvm::DominatorTree dominators;
  llvm::LoopInfo loops;
  std::unordered_map<const llvm::Loop *, unsigned> labels;
};

// A loop that a thread is in.
struct Running {
  const llvm::Loop *loop;
  size_t depth; // of calls
  unsigned label;
  uint64_t iteration;
};

// What is known of a thread while it runs.
struct Thread {
  uint64_t number = 0;
  std::vector<Running> running;
  // The atomic whose load was written: its store is the same entry.
  const llvm::Instruction *atomic = nullptr;
  // A block's first instruction that was met before it was done.
  const llvm::Instruction *entered = nullptr;
};

class Tracer : public Plugin {
public:
  explicit Tracer(const Context *context) : Plugin(context), layout(alignment()) {
    const char *path = setting("WAVECAST_TRACE");
    name = path ? path : "wavecast-trace.csv";
    const char *chosen = setting("WAVECAST_TRACE_KERNEL");
    only = chosen ? chosen : "";
    out.open(name);
    if (!out) {
      std::cerr << "wavecast-tracer: cannot write " << name << "; set WAVECAST_TRACE to another file\n";
      std::exit(2);
    }
    out << "# wavecast-trace 1\n";
  }

  ~Tracer() override {
    out.flush();
    if (!out)
      std::cerr << "wavecast-tracer: " << name << " is not complete: writing failed\n";
    if (copies > 0)
      std::cerr << "wavecast-tracer: " << copies
                << " copies by whole work groups (async_work_group_copy) are not in the trace\n";
    if (unknown > 0)
      std::cerr << "wavecast-tracer: " << unknown << " accesses outside of all buffers are not in the trace\n";
    if (launches == 0)
      std::cerr << "wavecast-tracer: no kernel was traced" << (only.empty() ? "" : " named ") << only << "\n";
  }

  // One file, and threads one after the other.
  bool isThreadSafe() const override { return false; }

  void memoryAllocated(const Memory *memory, size_t address, size_t size, cl_mem_flags,
                       const uint8_t *) override {
    if (memory->getAddressSpace() == AddrSpaceGlobal)
      layout.add(memory->extractBuffer(address), size);
  }

  void kernelBegin(const KernelInvocation *invocation) override {
    const std::string &kernel = invocation->getKernel()->getName();
    tracing = only.empty() || only == kernel;
    if (!tracing)
      return;
    size = invocation->getLocalSize();
    groups = invocation->getNumGroups();
    codes.clear();
    names.clear();
    labels = 0;
    out << "# launch block=" << size.x << ',' << size.y << ',' << size.z << " grid=" << groups.x << ','
        << groups.y << ',' << groups.z << " ordered=0 kernel=" << kernel << '\n';
    if (launches++ == 0)
      out << "thread,kind,address,bytes,instruction,line,column,loops\n";
  }

  void kernelEnd(const KernelInvocation *) override {
    tracing = false;
    threads.clear();
    last = nullptr;
    out.flush();
  }

  void workItemBegin(const WorkItem *item) override {
    if (!tracing)
      return;
    Thread thread;
    thread.number = number(item->getWorkGroup(), item->getLocalID());
    threads[item] = thread;
    last = nullptr;
  }

  void workItemComplete(const WorkItem *item) override {
    threads.erase(item);
    last = nullptr;
  }

  // Keeps count of the loops that the thread is in.
  void instructionExecuted(const WorkItem *item, const llvm::Instruction *instruction,
                           const TypedValue &) override {
    if (!tracing)
      return;
    if (!begins(instruction))
      return;
    Thread &thread = *of(item);
    if (thread.entered != instruction)
      enter(thread, item, instruction->getParent());
    thread.entered = nullptr;
  }

  void memoryLoad(const Memory *memory, const WorkItem *item, size_t address, size_t bytes) override {
    access(memory, item, 'R', address, bytes);
  }

  void memoryStore(const Memory *memory, const WorkItem *item, size_t address, size_t bytes,
                   const uint8_t *) override {
    access(memory, item, 'W', address, bytes);
  }

  void memoryAtomicLoad(const Memory *memory, const WorkItem *item, AtomicOp, size_t address,
                        size_t bytes) override {
    access(memory, item, 'A', address, bytes);
    if (tracing)
      of(item)->atomic = item->getCurrentInstruction();
  }

  void memoryAtomicStore(const Memory *memory, const WorkItem *item, AtomicOp, size_t address,
                         size_t bytes) override {
    if (!tracing)
      return;
    Thread *thread = of(item);
    if (thread->atomic != item->getCurrentInstruction())
      access(memory, item, 'A', address, bytes);
    thread->atomic = nullptr;
  }

  void memoryLoad(const Memory *memory, const WorkGroup *, size_t, size_t) override { copied(memory); }

  void memoryStore(const Memory *memory, const WorkGroup *, size_t, size_t, const uint8_t *) override {
    copied(memory);
  }

  void workGroupBarrier(const WorkGroup *group, uint32_t) override {
    if (!tracing)
      return;
    const Size3 own = group->getGroupSize();
    for (size_t z = 0; z < own.z; z++)
      for (size_t y = 0; y < own.y; y++)
        for (size_t x = 0; x < own.x; x++)
          out << number(group, Size3(x, y, z)) << ",B,0,0,,0,0,\n";
  }

private:
  static uint64_t alignment() {
    const char *given = setting("WAVECAST_TRACE_ALIGN");
    const uint64_t align = given ? std::strtoull(given, nullptr, 10) : ALIGN;
    if (align == 0 || (align & (align - 1)) != 0) {
      std::cerr << "wavecast-tracer: WAVECAST_TRACE_ALIGN is \"" << given
                << "\": a power of two is needed, in bytes\n";
      std::exit(2);
    }
    return align;
  }

  // The global number of a thread. getGroupIndex() is wrong for grids of several dimensions.
  uint64_t number(const WorkGroup *group, const Size3 &place) const {
    const Size3 at = group->getGroupID();
    const uint64_t block = at.x + groups.x * (at.y + groups.y * at.z);
    const uint64_t local = place.x + size.x * (place.y + size.y * place.z);
    return block * (size.x * size.y * size.z) + local;
  }

  Thread *of(const WorkItem *item) {
    if (item != last_item || !last) {
      last = &threads[item];
      last_item = item;
    }
    return last;
  }

  Code &code(const llvm::Function *function) {
    std::unique_ptr<Code> &known = codes[function];
    if (!known) {
      known.reset(new Code);
      known->dominators.recalculate(const_cast<llvm::Function &>(*function));
      known->loops.analyze(known->dominators);
      // Outer loops first, otherwise as they stand in the source.
      for (const llvm::Loop *loop : known->loops.getLoopsInPreorder())
        known->labels[loop] = labels++;
    }
    return *known;
  }

  // Loops are entered and left with blocks; a block that begins with phis begins with the first of them.
  static bool begins(const llvm::Instruction *instruction) {
    return &instruction->getParent()->front() == instruction;
  }

  void enter(Thread &thread, const WorkItem *item, const llvm::BasicBlock *block) {
    Code &own = code(block->getParent());
    const size_t depth = item->getCallStack().size();
    std::vector<Running> &running = thread.running;
    while (!running.empty() && (running.back().depth > depth ||
                                (running.back().depth == depth && !running.back().loop->contains(block))))
      running.pop_back();
    const llvm::Loop *loop = own.loops.getLoopFor(block);
    if (!loop || loop->getHeader() != block)
      return;
    if (!running.empty() && running.back().depth == depth && running.back().loop == loop)
      running.back().iteration++;
    else
      running.push_back(Running{loop, depth, own.labels[loop], 0});
  }

  unsigned instruction(const llvm::Instruction *executed) {
    return names.emplace(executed, static_cast<unsigned>(names.size())).first->second;
  }

  void access(const Memory *memory, const WorkItem *item, char kind, size_t address, size_t bytes) {
    if (!tracing || memory->getAddressSpace() != AddrSpaceGlobal)
      return;
    const llvm::Instruction *executed = item->getCurrentInstruction();
    if (constant(executed))
      return;
    uint64_t place;
    if (!layout.place(memory->extractBuffer(address), memory->extractOffset(address), place)) {
      unknown++;
      return;
    }
    Thread *thread = of(item);
    if (begins(executed) && thread->entered != executed) {
      enter(*thread, item, executed->getParent());
      thread->entered = executed;
    }
    unsigned line = 0, column = 0;
    if (const llvm::DILocation *location = executed->getDebugLoc().get()) {
      line = location->getLine();
      column = location->getColumn();
    }
    const unsigned name = instruction(executed);
    for (size_t done = 0; done < bytes; done += MOST_BYTES) {
      out << thread->number << ',' << kind << ',' << place + done << ','
          << std::min<uint64_t>(bytes - done, MOST_BYTES) << ",i" << name << ',' << line << ',' << column
          << ',';
      const char *separator = "";
      for (const Running &running : thread->running) {
        out << separator << running.label << '=' << running.iteration;
        separator = ";";
      }
      out << '\n';
    }
  }

  // Constant memory lies in the same memory here; on a GPU it has a cache of its own.
  static bool constant(const llvm::Instruction *executed) {
    const auto *load = llvm::dyn_cast<llvm::LoadInst>(executed);
    return load && load->getPointerAddressSpace() == AddrSpaceConstant;
  }

  void copied(const Memory *memory) {
    if (tracing && memory->getAddressSpace() == AddrSpaceGlobal)
      copies++;
  }

  Layout layout;
  std::string name, only;
  std::ofstream out;
  bool tracing = false;
  Size3 size, groups;
  uint64_t launches = 0, copies = 0, unknown = 0;
  unsigned labels = 0;
  std::unordered_map<const llvm::Function *, std::unique_ptr<Code>> codes;
  std::unordered_map<const llvm::Instruction *, unsigned> names;
  std::unordered_map<const WorkItem *, Thread> threads;
  // The thread that was asked for last: threads run one after the other.
  Thread *last = nullptr;
  const WorkItem *last_item = nullptr;
};

Tracer *tracer = nullptr;

} // namespace

extern "C" {

void initializePlugins(Context *context) {
  // A program may make several contexts; one file holds the launches of the first one.
  if (tracer) {
    std::cerr << "wavecast-tracer: only the first OpenCL context is traced\n";
    return;
  }
  tracer = new Tracer(context);
  context->registerPlugin(tracer);
}

void releasePlugins(Context *context) {
  if (!tracer)
    return;
  context->unregisterPlugin(tracer);
  delete tracer;
  tracer = nullptr;
}
}
