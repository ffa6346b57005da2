// Writes a description as the text of a file.

#include "nlohmann/json.hpp"
#include "transport/machines/machine_description.h"

namespace brigade {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kKindNames[kMemoryKinds] = {"controller", "host"};

class Writer {
 public:
  Writer(const MachineDescription& machine, std::string source)
      : machine_(machine), source_(std::move(source)) {}

  Json Machine() const {
    Json json;
    json["name"] = machine_.name;
    json["about"] = machine_.about;
    json["hosts"] = Quantity(machine_.hosts, "count");
    json["ranks_per_host"] = Quantity(machine_.ranks_per_host, "count");
    json["ranks_per_processor"] = Quantity(machine_.ranks_per_processor, "count");
    json["buses"] = Json::array();
    for (const Bus& bus : machine_.buses) {
      json["buses"].push_back({{"name", bus.name}, {"rate", Quantity(bus.mb_s, "MB/s")}});
    }
    json["memories"] = Json::array();
    for (const Memory& memory : machine_.memories) {
      Json entry;
      entry["name"] = memory.name;
      entry["bytes_per_rank"] = Bytes(memory.bytes_per_rank);
      entry["send"] = Side(memory.send);
      entry["receive"] = Side(memory.receive);
      json["memories"].push_back(entry);
    }
    json["staging"]["required"] = machine_.needs_staging;
    for (int kind = 0; kind < kMemoryKinds; ++kind) {
      json["staging"][kKindNames[kind]] = NameOf(machine_.memory_of_kind[kind]);
    }
    json["copies"] = Works(machine_.copies);
    json["adds"] = Works(machine_.adds);
    json["between_hosts"] = LinkJson(machine_.between_hosts);
    json["within_host"] = LinkJson(machine_.within_host);
    const SharedMemory& shared = machine_.shared_memory;
    if (shared.is_shared) {
      Json& entry = json["shared_memory"];
      entry["line_bytes"] = Bytes(shared.max_inline_bytes);
      entry["kernel_copies"] = {{"least_bytes", Bytes(shared.least_kernel_bytes)},
                                {"most_bytes", Bytes(shared.most_kernel_bytes)},
                                {"rate", Quantity(shared.kernel_mb_s, "MB/s")}};
    }
    json["segments"]["preferred_bytes"] = Bytes(machine_.preferred_segment_bytes);
    json["segments"]["overlap_bytes"] = Bytes(machine_.overlap_segment_bytes);
    json["segments"]["cost_bytes"] = Bytes(machine_.segment_cost_bytes);
    return json;
  }

 private:
  Json Quantity(double value, const char* unit) const {
    Json json;
    if (value == kUnlimitedRate) {
      json["value"] = "unlimited";
    } else {
      json["value"] = value;
    }
    json["unit"] = unit;
    json["source"] = source_;
    return json;
  }
  Json Bytes(size_t bytes) const {
    return Quantity(bytes == SIZE_MAX ? kUnlimitedRate : static_cast<double>(bytes), "bytes");
  }
  const std::string& NameOf(int memory) const {
    return machine_.memories[static_cast<size_t>(memory)].name;
  }
  Json Uses(const std::vector<BusUse>& uses) const {
    Json json = Json::object();
    for (const BusUse& use : uses) {
      json[machine_.buses[static_cast<size_t>(use.bus)].name] = use.weight;
    }
    return json;
  }
  Json Side(const Memory::Side& side) const {
    return {{"rate", Quantity(side.mb_s, "MB/s")}, {"buses", Uses(side.buses)}};
  }
  Json Works(const std::vector<MemoryWork>& works) const {
    Json json = Json::array();
    const auto memories = static_cast<int>(machine_.memories.size());
    for (int i = 0; i < static_cast<int>(works.size()); ++i) {
      const MemoryWork& work = works[static_cast<size_t>(i)];
      Json points = Json::array();
      for (const RateCurve::Point& point : work.rate.points) {
        points.push_back({point.run_bytes, point.mb_s});
      }
      Json entry;
      entry["from"] = {NameOf(i / memories)};
      entry["to"] = {NameOf(i % memories)};
      entry["rate"] = {{"unit", "MB/s"}, {"source", source_}, {"by_run_bytes", points}};
      entry["buses"] = Uses(work.buses);
      json.push_back(entry);
    }
    return json;
  }
  Json OverheadJson(const Overhead& overhead) const {
    return {{"message", Quantity(overhead.message_us, "us")},
            {"rate", Quantity(overhead.mb_s, "MB/s")}};
  }
  Json LinkJson(const Link& link) const {
    Json json;
    json["latency"] = Quantity(link.latency_us, "us");
    json["rate"] = Quantity(link.mb_s, "MB/s");
    json["message"] = Quantity(link.message_us, "us");
    json["burst"] = Bytes(link.burst_bytes);
    json["grant"] = Quantity(link.grant_us, "us");
    json["eager_bytes"] = Bytes(link.eager_bytes);
    json["send_ports"] = Quantity(link.send_ports, "count");
    json["receive_ports"] = Quantity(link.receive_ports, "count");
    json["ports_of_host"] = link.ports_of_host;
    json["half_duplex"] = link.half_duplex;
    json["joins_control"] = link.joins_control;
    json["send_overhead"] = OverheadJson(link.send_overhead);
    json["receive_overhead"] = OverheadJson(link.receive_overhead);
    return json;
  }

  const MachineDescription& machine_;
  const std::string source_;
};

}  // namespace

std::string MachineDescription::ToJson(const std::string& source) const {
  return Writer(*this, source).Machine().dump(2) + "\n";
}

}  // namespace brigade
