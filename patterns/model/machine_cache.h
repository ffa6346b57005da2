// MachineCache: what was measured of which hosts, kept from one job to the next.
//
// A file per set of hosts in $XDG_CACHE_HOME/brigade (else $HOME/.cache/brigade), in the format of
// transport/machines/. A file is valid for a week. StoreMachine removes older files, and the oldest
// of very many. If a file or the folder cannot be used, nothing is known.

#ifndef BRIGADE_PATTERNS_MODEL_MACHINE_CACHE_H_
#define BRIGADE_PATTERNS_MODEL_MACHINE_CACHE_H_

#include <string>
#include <vector>

#include "transport/machines/machine_description.h"

namespace brigade {

// Returns the path of the file of `key`, which need not exist; empty if there is no folder. `key`:
// what the measurement depends on, any text.
std::string CachedMachineFile(const std::string& key);

// The keys of all that is known.
std::vector<std::string> CachedMachines();

// True if something is known under exactly this key.
bool LoadMachine(const std::string& key, MachineDescription* machine);

// Keeps it, if that is possible: other processes see all of the file or none.
void StoreMachine(const std::string& key, const MachineDescription& machine);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_MODEL_MACHINE_CACHE_H_
