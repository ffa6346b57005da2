#include "transport/machines/machine_description.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include "nlohmann/json.hpp"

namespace brigade {
namespace {

using nlohmann::json;

constexpr const char* kSources[] = {"stated", "measured", "fitted", "estimated"};
constexpr const char* kKindNames[kMemoryKinds] = {"controller", "host"};
constexpr double kMostBytes = 1e15;  // that a number of bytes may be and still be meant

// The first thing that is wrong with a file.
class Problem {
 public:
  explicit Problem(std::string file) : file_(std::move(file)) {}

  void Set(const std::string& path, const std::string& what) {
    if (status_.ok()) {
      status_ = Status(StatusCode::kInvalidArgument,
                       file_ + ": " + (path.empty() ? "the file" : path) + ": " + what);
    }
  }
  const Status& status() const { return status_; }

 private:
  const std::string file_;
  Status status_;
};

// One object of the file. Every key must be read, and every key that is read must exist; after the
// first error the returned values are meaningless.
class Object {
 public:
  Object(Problem* problem, const json& value, std::string path)
      : problem_(problem), value_(value.is_object() ? value : Empty()), path_(std::move(path)) {
    if (!value.is_object()) problem_->Set(path_, "expected an object, found " + value.dump());
  }
  ~Object() {
    for (const auto& item : value_.items()) {
      if (asked_.count(item.key()) == 0) problem_->Set(PathOf(item.key()), "unknown key");
    }
  }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  const json& operator[](const std::string& key) {
    asked_.insert(key);
    const auto found = value_.find(key);
    if (found != value_.end()) return *found;
    problem_->Set(path_, "misses the key '" + key + "'");
    return Empty();
  }
  bool Has(const std::string& key) const { return value_.contains(key); }
  std::string PathOf(const std::string& key) const {
    return path_.empty() ? key : path_ + "." + key;
  }

  std::string Text(const std::string& key) {
    const json& value = (*this)[key];
    if (value.is_string() && !value.get_ref<const std::string&>().empty()) return value;
    problem_->Set(PathOf(key), "expected text, found " + value.dump());
    return "";
  }
  bool Flag(const std::string& key) {
    const json& value = (*this)[key];
    if (value.is_boolean()) return value;
    problem_->Set(PathOf(key), "expected true or false, found " + value.dump());
    return false;
  }
  // {"value": number, "unit": unit, "source": where it is from}.
  double Quantity(const std::string& key, const char* unit, double least, double most) {
    Object object(problem_, (*this)[key], PathOf(key));
    object.CheckUnitAndSource(unit);
    return object.Number("value", unit, least, most);
  }
  double Time(const std::string& key) { return Quantity(key, "us", 0, 1e9); }
  // Above zero; "unlimited" will do.
  double Rate(const std::string& key) { return Unlimited(key, "MB/s", kLeastRate, kUnlimitedRate); }
  size_t Bytes(const std::string& key) {
    return static_cast<size_t>(Quantity(key, "bytes", 0, kMostBytes));
  }
  // "unlimited" will do.
  size_t BytesOrAny(const std::string& key) {
    const double bytes = Unlimited(key, "bytes", 0, kMostBytes);
    return std::isinf(bytes) ? SIZE_MAX : static_cast<size_t>(bytes);
  }
  int Count(const std::string& key) {
    const double count = Quantity(key, "count", 1, 1 << 24);
    if (count != std::floor(count)) problem_->Set(PathOf(key), "expected a whole number");
    return static_cast<int>(count);
  }
  double Number(const std::string& key, const std::string& unit, double least, double most) {
    const json& value = (*this)[key];
    const double number = value.is_number() ? value.get<double>() : -1;
    if (value.is_number() && least <= number && number <= most) return number;
    std::ostringstream expected;
    expected << "expected a number of " << unit << " from " << least << " to " << most << ", found "
             << value.dump();
    problem_->Set(PathOf(key), expected.str());
    return least;
  }
  void CheckUnitAndSource(const std::string& unit) {
    const std::string found = Text("unit");
    if (found != unit) {
      problem_->Set(PathOf("unit"), "expected '" + unit + "', found '" + found + "'");
    }
    const std::string source = Text("source");
    const auto begins = [&](const std::string& word) {
      return source == word || source.rfind(word + ":", 0) == 0;
    };
    if (std::none_of(std::begin(kSources), std::end(kSources), begins)) {
      problem_->Set(PathOf("source"),
                    "expected 'stated', 'measured', 'fitted' or 'estimated', and a colon and more "
                    "if there is more to say; found '" +
                        source + "'");
    }
  }

 private:
  static const json& Empty() {
    static const json empty = json::object();
    return empty;
  }
  double Unlimited(const std::string& key, const char* unit, double least, double most) {
    Object object(problem_, (*this)[key], PathOf(key));
    object.CheckUnitAndSource(unit);
    if (object["value"] == "unlimited") return std::numeric_limits<double>::infinity();
    return object.Number("value", unit, least, most);
  }

  Problem* const problem_;
  const json& value_;
  const std::string path_;
  std::set<std::string> asked_;
};

class MachineReader {
 public:
  MachineReader(Problem* problem, MachineDescription* machine)
      : problem_(problem), machine_(machine) {}

  void Read(const json& file) {
    Object top(problem_, file, "");
    machine_->name = top.Text("name");
    machine_->about = top.Text("about");
    machine_->hosts = top.Count("hosts");
    machine_->ranks_per_host = top.Count("ranks_per_host");
    machine_->ranks_per_processor = top.Quantity("ranks_per_processor", "count", 1, 1 << 24);
    ReadBuses(top["buses"]);
    ReadMemories(top["memories"]);
    if (!problem_->status().ok()) return;  // names below would be looked for in vain
    {
      Object staging(problem_, top["staging"], "staging");
      machine_->needs_staging = staging.Flag("required");
      for (int kind = 0; kind < kMemoryKinds; ++kind) {
        machine_->memory_of_kind[kind] =
            MemoryNamed(staging.Text(kKindNames[kind]), staging.PathOf(kKindNames[kind]));
      }
    }
    ReadWork(top["copies"], "copies", &machine_->copies);
    ReadWork(top["adds"], "adds", &machine_->adds);
    machine_->between_hosts = ReadLink(top["between_hosts"], "between_hosts");
    machine_->within_host = ReadLink(top["within_host"], "within_host");
    if (top.Has("shared_memory")) {
      machine_->shared_memory = ReadSharedMemory(top["shared_memory"], "shared_memory");
    }
    Object segments(problem_, top["segments"], "segments");
    machine_->preferred_segment_bytes = segments.Bytes("preferred_bytes");
    machine_->overlap_segment_bytes = segments.Bytes("overlap_bytes");
    machine_->segment_cost_bytes = segments.Bytes("cost_bytes");
  }

 private:
  const json& ArrayAt(const json& value, const std::string& path) {
    static const json empty = json::array();
    if (value.is_array()) return value;
    problem_->Set(path, "expected an array, found " + value.dump());
    return empty;
  }
  static std::string Item(const std::string& path, size_t i) {
    return path + "[" + std::to_string(i) + "]";
  }

  void ReadBuses(const json& value) {
    const json& array = ArrayAt(value, "buses");
    for (size_t i = 0; i < array.size(); ++i) {
      Object bus(problem_, array[i], Item("buses", i));
      machine_->buses.push_back({bus.Text("name"), bus.Rate("rate")});
    }
  }

  // {bus: weight, ...}
  std::vector<BusUse> ReadUses(const json& value, const std::string& path) {
    std::vector<BusUse> uses;
    Object object(problem_, value, path);
    for (size_t bus = 0; bus < machine_->buses.size(); ++bus) {
      const std::string& name = machine_->buses[bus].name;
      if (!object.Has(name)) continue;
      uses.push_back({static_cast<int>(bus), object.Number(name, "times the rate", 1e-6, 1e6)});
    }
    return uses;
  }

  Memory::Side ReadSide(const json& value, const std::string& path) {
    Object object(problem_, value, path);
    Memory::Side side;
    side.mb_s = object.Rate("rate");
    side.buses = ReadUses(object["buses"], object.PathOf("buses"));
    return side;
  }

  void ReadMemories(const json& value) {
    const json& array = ArrayAt(value, "memories");
    for (size_t i = 0; i < array.size(); ++i) {
      Object object(problem_, array[i], Item("memories", i));
      Memory memory;
      memory.name = object.Text("name");
      memory.bytes_per_rank = object.BytesOrAny("bytes_per_rank");
      memory.send = ReadSide(object["send"], object.PathOf("send"));
      memory.receive = ReadSide(object["receive"], object.PathOf("receive"));
      machine_->memories.push_back(std::move(memory));
    }
    if (machine_->memories.empty() || machine_->memories[0].name != "user") {
      problem_->Set("memories", "the first must be 'user', ordinary memory");
    }
  }

  int MemoryNamed(const std::string& name, const std::string& path) {
    const auto& memories = machine_->memories;
    const auto found = std::find_if(memories.begin(), memories.end(),
                                    [&](const Memory& memory) { return memory.name == name; });
    if (found != memories.end()) return static_cast<int>(found - memories.begin());
    problem_->Set(path, "there is no memory '" + name + "'");
    return 0;
  }

  std::vector<int> MemoriesAt(const json& value, const std::string& path) {
    std::vector<int> memories;
    for (const json& name : ArrayAt(value, path)) {
      if (name.is_string()) {
        memories.push_back(MemoryNamed(name, path));
      } else {
        problem_->Set(path, "expected names of memories, found " + name.dump());
      }
    }
    return memories;
  }

  RateCurve ReadCurve(const json& value, const std::string& path) {
    RateCurve curve;
    Object object(problem_, value, path);
    object.CheckUnitAndSource("MB/s");
    const std::string points_path = object.PathOf("by_run_bytes");
    const json& points = ArrayAt(object["by_run_bytes"], points_path);
    for (size_t i = 0; i < points.size(); ++i) {
      const json& point = points[i];
      const bool pair = point.is_array() && point.size() == 2 && point[0].is_number() &&
                        point[1].is_number() && point[0] > 0 && point[1] >= kLeastRate;
      if (!pair || (i > 0 && point[0] <= curve.points.back().run_bytes)) {
        problem_->Set(Item(points_path, i),
                      "expected [run bytes, MB/s], above 0 and at least 1e-6, in increasing run "
                      "length; found " +
                          point.dump());
        return curve;
      }
      curve.points.push_back({point[0], point[1]});
    }
    if (points.empty()) problem_->Set(points_path, "expected a point at least");
    return curve;
  }

  void ReadWork(const json& value, const std::string& path, std::vector<MemoryWork>* work) {
    const size_t memories = machine_->memories.size();
    work->resize(memories * memories);
    const json& array = ArrayAt(value, path);
    for (size_t i = 0; i < array.size(); ++i) {
      Object object(problem_, array[i], Item(path, i));
      MemoryWork entry;
      entry.rate = ReadCurve(object["rate"], object.PathOf("rate"));
      entry.buses = ReadUses(object["buses"], object.PathOf("buses"));
      const std::vector<int> to_memories = MemoriesAt(object["to"], object.PathOf("to"));
      for (int from : MemoriesAt(object["from"], object.PathOf("from"))) {
        for (int to : to_memories) {
          MemoryWork& slot =
              (*work)[static_cast<size_t>(from) * memories + static_cast<size_t>(to)];
          if (!slot.rate.points.empty()) problem_->Set(Item(path, i), Between(from, to) + " twice");
          slot = entry;
        }
      }
    }
    for (size_t i = 0; i < work->size(); ++i) {
      if (!(*work)[i].rate.points.empty()) continue;
      problem_->Set(path, "nothing " + Between(static_cast<int>(i / memories),
                                               static_cast<int>(i % memories)));
    }
  }

  std::string Between(int from, int to) const {
    return "from '" + machine_->memories[static_cast<size_t>(from)].name + "' to '" +
           machine_->memories[static_cast<size_t>(to)].name + "'";
  }

  Overhead ReadOverhead(const json& value, const std::string& path) {
    Object object(problem_, value, path);
    Overhead overhead;
    overhead.message_us = object.Time("message");
    overhead.mb_s = object.Rate("rate");
    return overhead;
  }

  Link ReadLink(const json& value, const std::string& path) {
    Object object(problem_, value, path);
    Link link;
    link.latency_us = object.Time("latency");
    link.mb_s = object.Rate("rate");
    link.message_us = object.Time("message");
    link.burst_bytes = object.Bytes("burst");
    link.grant_us = object.Time("grant");
    link.eager_bytes = object.BytesOrAny("eager_bytes");
    link.send_ports = object.Count("send_ports");
    link.receive_ports = object.Count("receive_ports");
    link.ports_of_host = object.Flag("ports_of_host");
    link.half_duplex = object.Flag("half_duplex");
    if (object.Has("joins_control")) link.joins_control = object.Flag("joins_control");
    link.send_overhead = ReadOverhead(object["send_overhead"], object.PathOf("send_overhead"));
    link.receive_overhead =
        ReadOverhead(object["receive_overhead"], object.PathOf("receive_overhead"));
    return link;
  }

  SharedMemory ReadSharedMemory(const json& value, const std::string& path) {
    Object object(problem_, value, path);
    SharedMemory memory;
    memory.is_shared = true;
    memory.max_inline_bytes = object.Bytes("line_bytes");
    Object copies(problem_, object["kernel_copies"], object.PathOf("kernel_copies"));
    memory.least_kernel_bytes = copies.BytesOrAny("least_bytes");
    memory.most_kernel_bytes = copies.BytesOrAny("most_bytes");
    memory.kernel_mb_s = copies.Rate("rate");
    return memory;
  }

  Problem* const problem_;
  MachineDescription* const machine_;
};

// Refuses what JSON would let pass: a key that comes twice.
class KeyCheck {
 public:
  explicit KeyCheck(Problem* problem) : problem_(problem) {}

  bool operator()(int /*depth*/, json::parse_event_t event, const json& parsed) {
    if (event == json::parse_event_t::object_start) keys_.emplace_back();
    if (event == json::parse_event_t::object_end) keys_.pop_back();
    if (event == json::parse_event_t::key && !keys_.back().insert(parsed).second) {
      problem_->Set(parsed, "comes twice in one object");
    }
    return true;
  }

 private:
  Problem* const problem_;
  std::vector<std::set<std::string>> keys_;
};

}  // namespace

double RateCurve::RateAt(double run_bytes) const {
  if (run_bytes <= points.front().run_bytes) return points.front().mb_s;
  if (run_bytes >= points.back().run_bytes) return points.back().mb_s;
  auto above = points.begin();
  while (above->run_bytes < run_bytes) ++above;
  const auto below = above - 1;
  const double below_us = below->run_bytes / below->mb_s;
  const double above_us = above->run_bytes / above->mb_s;
  const double part = (run_bytes - below->run_bytes) / (above->run_bytes - below->run_bytes);
  return run_bytes / (below_us + part * (above_us - below_us));
}

double MachineDescription::TransferRate(const Link& link, int from, int to) const {
  return std::min({link.mb_s, memories[static_cast<size_t>(from)].send.mb_s,
                   memories[static_cast<size_t>(to)].receive.mb_s});
}

Status MachineDescription::Read(const std::string& file, MachineDescription* machine) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) return Status(StatusCode::kUnavailable, file + ": cannot be read");
  return Parse(text.str(), file, machine);
}

Status MachineDescription::Parse(const std::string& text, const std::string& file,
                                 MachineDescription* machine) {
  Problem problem(file);
  MachineDescription parsed;
  try {
    const json value = json::parse(text, KeyCheck(&problem));
    MachineReader(&problem, &parsed).Read(value);
  } catch (const json::exception& error) {
    problem.Set("", error.what());
  }
  BRIGADE_RETURN_IF_ERROR(problem.status());
  *machine = std::move(parsed);
  return Status();
}

}  // namespace brigade
